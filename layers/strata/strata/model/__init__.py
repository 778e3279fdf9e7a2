"""The vocabulary: frozen, slotted dataclasses and nothing else."""
