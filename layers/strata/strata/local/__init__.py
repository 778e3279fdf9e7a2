"""The deployed product on one machine, without AWS or Docker, driven by ``template.yaml``.

gateway → function ← poller ← queue, and schedules beside them; ``stack`` composes. The handlers are the deployed ones.
"""
