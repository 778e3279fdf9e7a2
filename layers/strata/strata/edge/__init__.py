"""AWS events in, answers out: the only rooms that know Lambda's shapes."""
