"""MemOS: the self-hosted server and the Cloud, two products with two wire formats."""
