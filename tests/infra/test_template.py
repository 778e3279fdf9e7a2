"""What is deployed obeys rules that no linter knows."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from infra import lint
from strata.config import variables
from strata.local import cloudformation, template
from strata.local.deployment import Deployment

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
API_TIMEOUT_SECONDS = 29
MANAGED_POLICIES = {"AWSLambdaBasicExecutionRole", "AWSLambdaVPCAccessExecutionRole", "AWSXrayWriteOnlyAccess"}

COLLECTION = "/v1/collections/{collection}"
MEMORY = f"{COLLECTION}/memories/{{memory_id}}"
SESSION = "/v1/sessions/{session_id}"
ROUTES = {
    "context_load": {"POST /v1/context"},
    "message_append": {
        f"POST {SESSION}/messages",
        f"GET {SESSION}/messages",
        f"GET {SESSION}",
        f"PUT {SESSION}/working",
        f"GET {SESSION}/working",
        f"DELETE {SESSION}/working",
        f"PUT {SESSION}/participants/{{agent_id}}",
        f"DELETE {SESSION}/participants/{{agent_id}}",
    },
    "session_end": {
        f"POST {SESSION}/end",
        f"POST {SESSION}/resume",
        "GET /v1/runs",
        "GET /v1/runs/{run_id}",
        "POST /v1/runs/{run_id}/replay",
        "POST /v1/runs/{run_id}/undo",
        "POST /v1/runs/{run_id}/dry-run",
        "POST /v1/runs/replay",
        "POST /v1/runs/rejudge",
        "POST /v1/runs/{run_id}/rejudge",
    },
    "memory_units": {
        "GET /v1/agents",
        "PUT /v1/agents/{agent_id}",
        "GET /v1/agents/{agent_id}",
        "POST /v1/agents/{agent_id}/keys",
        "GET /v1/agents/{agent_id}/keys",
        "DELETE /v1/agents/{agent_id}/keys/{key_id}",
        f"PUT {COLLECTION}",
        f"GET {COLLECTION}",
        f"DELETE {COLLECTION}",
        f"PUT {COLLECTION}/registrations/{{agent_id}}",
        f"GET {COLLECTION}/registrations/{{agent_id}}",
        f"DELETE {COLLECTION}/registrations/{{agent_id}}",
        f"POST {COLLECTION}/memories",
        f"GET {COLLECTION}/memories",
        f"POST {COLLECTION}/memories/search",
        f"GET {MEMORY}",
        f"PATCH {MEMORY}",
        f"DELETE {MEMORY}",
        f"GET {MEMORY}/history",
        f"POST {MEMORY}/rollback",
        f"GET {MEMORY}/reads",
        f"GET {MEMORY}/impact",
        "GET /v1/quarantine",
        "GET /v1/quarantine/{quarantine_id}",
        "POST /v1/quarantine/{quarantine_id}/release",
        "POST /v1/quarantine/{quarantine_id}/reject",
        "GET /v1/audits",
        "GET /v1/audits/{week}",
        "GET /v1/events",
        "GET /v1/users/{user_id}/export",
        "DELETE /v1/users/{user_id}",
        "GET /v1/health",
        "GET /v1/openapi.json",
    },
}


@pytest.fixture(scope="module")
def resources() -> Mapping[str, Any]:
    """The resources of the translated template."""
    translated: Mapping[str, Any] = lint.translate(TEMPLATE)["Resources"]
    return translated


@pytest.fixture(scope="module")
def deployment() -> Deployment:
    return template.read(TEMPLATE)


def of_type(resources: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    found = {name: body.get("Properties", {}) for name, body in resources.items() if body["Type"] == kind}
    assert found, f"no {kind}"
    return found


def statements(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every policy statement in a template, however deep."""
    if isinstance(node, dict):
        if "Effect" in node:
            yield node
        for value in node.values():
            yield from statements(value)
    elif isinstance(node, list):
        for value in node:
            yield from statements(value)


def nested(name: str) -> dict[str, Any]:
    return dict(cloudformation.load(ROOT / "infra" / name))


@pytest.mark.slow
def test_the_translated_template_and_its_nested_stacks_lint_clean() -> None:
    assert lint.problems(TEMPLATE) == []


@pytest.mark.slow
def test_the_gate_sees_what_only_shows_after_translation(tmp_path: Path) -> None:
    broken = TEMPLATE.read_text(encoding="utf-8")
    for right, wrong in [("BatchSize: 10", "BatchSize: 100"), ("[ReportBatch", "[ReportBach")]:
        assert right in broken
        broken = broken.replace(right, wrong)
    (tmp_path / "template.yaml").write_text(broken, encoding="utf-8")

    found = " ".join(lint.problems(tmp_path / "template.yaml"))

    assert "E3705" in found
    assert "ReportBachItemFailures" in found


def test_the_template_stays_readable() -> None:
    assert len(TEMPLATE.read_text(encoding="utf-8").splitlines()) <= 250


def test_every_route_of_the_api_is_served_by_its_function(deployment: Deployment) -> None:
    served = {name: {route.key for route in deployment.routes if route.function == name} for name in ROUTES}

    assert served == ROUTES
    assert len(deployment.routes) == sum(map(len, ROUTES.values()))


def test_every_function_has_its_folder(deployment: Deployment) -> None:
    assert set(deployment.functions) == {path.parent.name for path in ROOT.glob("functions/*/app.py")}
    assert {function.handler for function in deployment.functions.values()} == {"app.handler"}


def test_a_function_behind_the_api_answers_before_the_api_gives_up(deployment: Deployment) -> None:
    assert all(deployment.functions[name].timeout_seconds <= API_TIMEOUT_SECONDS for name in ROUTES)


def test_a_batch_has_time_for_its_retries(deployment: Deployment) -> None:
    for subscription in deployment.subscriptions:
        queue, function = deployment.queues[subscription.queue], deployment.functions[subscription.function]
        assert queue.visibility_seconds >= 6 * function.timeout_seconds
        assert subscription.batch_size <= 10
        assert subscription.reports_failures


def test_the_queue_and_its_dead_letters_are_fifo_and_keep_long_enough(deployment: Deployment) -> None:
    queue = deployment.queues["RunQueue"]
    dead = deployment.queues[queue.dead_letters]

    assert queue.fifo
    assert dead.fifo
    assert queue.max_receives == 5
    assert queue.deduplicates_per_group
    assert dead.retention_seconds > queue.retention_seconds
    assert deployment.functions["consolidator"].environment["STRATA_QUEUE_MAX_RECEIVES"] == str(queue.max_receives)


def test_queues_use_per_group_throughput_and_encryption(resources: Mapping[str, Any]) -> None:
    queues = of_type(resources, "AWS::SQS::Queue")

    assert queues["RunQueue"]["FifoThroughputLimit"] == "perMessageGroupId"
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_reserved_concurrency_never_starves_the_queue(resources: Mapping[str, Any]) -> None:
    for mapping in of_type(resources, "AWS::Lambda::EventSourceMapping").values():
        assert "MaximumConcurrency" in mapping["ScalingConfig"]
    assert all(
        "ReservedConcurrentExecutions" not in body for body in of_type(resources, "AWS::Lambda::Function").values()
    )


def test_every_function_is_restored_from_a_snapshot_behind_an_alias(resources: Mapping[str, Any]) -> None:
    functions = of_type(resources, "AWS::Lambda::Function")
    aliases = of_type(resources, "AWS::Lambda::Alias")

    assert all(body["SnapStart"] == {"ApplyOn": "PublishedVersions"} for body in functions.values())
    assert {alias["FunctionName"]["Ref"] for alias in aliases.values()} == set(functions)


def test_every_event_goes_to_an_alias(resources: Mapping[str, Any]) -> None:
    aliases = set(of_type(resources, "AWS::Lambda::Alias"))
    permissions = of_type(resources, "AWS::Lambda::Permission").values()
    mappings = of_type(resources, "AWS::Lambda::EventSourceMapping").values()
    schedules = of_type(resources, "AWS::Scheduler::Schedule").values()

    invoked = [
        *(body["FunctionName"]["Ref"] for body in permissions),
        *(body["FunctionName"]["Ref"] for body in mappings),
        *(body["Target"]["Arn"]["Ref"] for body in schedules),
    ]
    assert len(invoked) == sum(map(len, ROUTES.values())) + 4
    assert set(invoked) <= aliases


def test_a_change_of_the_layer_alone_publishes_every_function(tmp_path: Path) -> None:
    """The doors hardly ever change: an alias that waits for them would keep yesterday's layer for ever."""
    changed = tmp_path / "template.yaml"
    changed.write_text(TEMPLATE.read_text().replace("[python3.13], Comp", "[python3.13, python3.14], Comp"))

    before, after = (set(lint.translate(path)["Resources"]) for path in (TEMPLATE, changed))

    published = {name.partition("Version")[0] for name in after - before if "Version" in name}
    assert published == {"ContextLoad", "MessageAppend", "SessionEnd", "MemoryUnits", "Consolidator", "Maintenance"}


def test_the_schema_is_migrated_before_any_other_function_changes(resources: Mapping[str, Any]) -> None:
    waiting = {
        name
        for name, body in resources.items()
        if body["Type"] == "AWS::Lambda::Function" and body.get("DependsOn") == "Migration"
    }

    assert waiting == set(of_type(resources, "AWS::Lambda::Function")) - {"Maintenance"}
    given = resources["Migration"]["Properties"]["Parameters"]
    assert given["MaintenanceArn"]["Ref"].startswith("MaintenanceAlias")
    assert "Version" in json.dumps(given["MaintenanceVersion"])


def test_no_policy_allows_everything(resources: Mapping[str, Any]) -> None:
    own = [*statements(resources), *(s for path in ROOT.glob("infra/*.yaml") for s in statements(nested(path.name)))]
    allowed = [statement for statement in own if statement["Effect"] == "Allow" and "Resource" in statement]

    assert len(allowed) > 10
    for statement in allowed:
        assert "*" not in json.dumps(statement["Resource"]).replace("/audits/*", "")
        assert not any(action.endswith(":*") for action in actions(statement))


def actions(statement: Mapping[str, Any]) -> list[str]:
    action = statement["Action"]
    return [action] if isinstance(action, str) else list(action)


def test_only_the_few_managed_policies_every_function_needs_are_attached(resources: Mapping[str, Any]) -> None:
    attached = {
        arn.rpartition("/")[2]
        for role in of_type(resources, "AWS::IAM::Role").values()
        for arn in role.get("ManagedPolicyArns", [])
        if isinstance(arn, str)
    }

    assert attached == MANAGED_POLICIES


def test_who_may_send_receive_write_and_read_is_who_has_to(resources: Mapping[str, Any]) -> None:
    roles = of_type(resources, "AWS::IAM::Role")
    may: dict[str, set[str]] = {}
    for name, role in roles.items():
        for statement in statements(role.get("Policies", [])):
            for action in actions(statement):
                may.setdefault(action, set()).add(name)

    assert may["sqs:SendMessage*"] == {"SessionEndRole", "MaintenanceRole"}
    assert may["sqs:ReceiveMessage"] == may["sqs:ChangeMessageVisibility"] == {"ConsolidatorRole"}
    assert may["s3:PutObject"] == {"MaintenanceRole"}
    assert "s3:GetObject" not in may
    assert may["secretsmanager:GetSecretValue"] == {"MemoryUnitsRole"}


def test_logs_do_not_stay_for_ever(resources: Mapping[str, Any]) -> None:
    groups = of_type(resources, "AWS::Logs::LogGroup")

    assert all("RetentionInDays" in group for group in groups.values())
    for function in of_type(resources, "AWS::Lambda::Function").values():
        assert function["LoggingConfig"]["LogGroup"]["Ref"] in groups


def test_failed_schedules_and_jobs_are_kept(resources: Mapping[str, Any]) -> None:
    for schedule in of_type(resources, "AWS::Scheduler::Schedule").values():
        assert schedule["Target"]["DeadLetterConfig"]["Arn"] == {"Fn::GetAtt": ["JobDeadLetters", "Arn"]}
        assert "Name" not in schedule  # a fixed name would let one stack only exist in an account
    [failures] = of_type(resources, "AWS::Lambda::EventInvokeConfig").values()
    assert failures["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["JobDeadLetters", "Arn"]}


def test_the_schedules_name_their_jobs_and_their_times(deployment: Deployment) -> None:
    times = {schedule.input["job"]: schedule.expression for schedule in deployment.schedules.values()}

    assert times == {"purge": "rate(1 hour)", "reconcile": "rate(5 minutes)", "audit": "cron(0 3-9 ? * MON *)"}


def test_every_variable_is_a_setting_that_exists(deployment: Deployment) -> None:
    given = {name for function in deployment.functions.values() for name in function.environment}
    deployed = {name for function in deployment.functions.values() for name in function.deployed_environment}

    assert given | deployed <= set(variables())
    assert {"STRATA_DATABASE_URL", "STRATA_CACHE_URL", "STRATA_QUEUE_URL"} <= deployed


def test_stores_that_are_created_keep_their_data_and_speak_tls_only() -> None:
    data = nested("data.yaml")["Resources"]

    database = data["Database"]
    assert (database["DeletionPolicy"], database["UpdateReplacePolicy"]) == ("Snapshot", "Snapshot")
    assert database["Properties"]["StorageEncrypted"] is True
    assert database["Properties"]["ManageMasterUserPassword"] is True
    assert database["Properties"]["PubliclyAccessible"] is False
    assert data["DatabaseParameters"]["Properties"]["Parameters"]["require_secure_transport"] == "1"
    assert data["Proxy"]["Properties"]["RequireTLS"] is True
    assert data["Audits"]["DeletionPolicy"] == "Retain"
    assert "aws:SecureTransport" in json.dumps(data["AuditsTlsOnly"])


@pytest.mark.parametrize("name", ["Database", "Proxy", "Cache", "Network"])
def test_what_exists_already_is_not_created_again(name: str) -> None:
    assert "Condition" in nested("data.yaml")["Resources"][name]


def test_nothing_comes_in_from_outside() -> None:
    for name in ("network.yaml", "data.yaml"):
        rules = json.dumps([body for body in nested(name)["Resources"].values() if "SecurityGroup" in body["Type"]])
        assert "CidrIp" not in rules


@pytest.mark.parametrize("path", sorted(ROOT.glob("infra/events/*.json")), ids=lambda path: path.stem)
def test_sample_events_fit_the_template(path: Path, deployment: Deployment) -> None:
    event = json.loads(path.read_text(encoding="utf-8"))

    if "routeKey" in event:
        routes = {route.key: route.function for route in deployment.routes}
        assert routes[event["routeKey"]] == path.stem
    elif "Records" in event:
        assert set(json.loads(event["Records"][0]["body"])) == {"tenant", "session_id", "run_id", "upto_seq"}
    else:
        assert path.stem == f"maintenance_{event['job']}"


def test_there_is_a_sample_event_for_every_function(deployment: Deployment) -> None:
    names = {path.stem for path in ROOT.glob("infra/events/*.json")}

    assert all(any(name.startswith(function) for name in names) for function in deployment.functions)
