"""Models behind ports: chat and embeddings, over endpoints or in this process."""
