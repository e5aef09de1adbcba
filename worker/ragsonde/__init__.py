"""Event-driven evaluation worker for production RAG traces."""
