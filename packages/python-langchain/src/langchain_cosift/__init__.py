"""LangChain vector store over cosift."""

from ._vector_store import CosiftVectorStore

__all__ = ["CosiftVectorStore"]
