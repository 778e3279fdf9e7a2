"""The governed shared library: memories that many agents use, their versions, collections, grants and keys."""
