"""Requests and answers of the HTTP API as pydantic models; unknown fields are refused."""
