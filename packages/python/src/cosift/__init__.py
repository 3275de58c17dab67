"""Client of cosift: exact semantic search with structured filters.

``Client`` and ``AsyncClient`` have the same methods. Their names, and those of the members of requests and responses, are
those of the HTTP API and of the TypeScript library.
"""

from . import filters, types
from ._async.client import AsyncClient
from ._async.database import AsyncDatabase
from ._errors import CosiftError
from ._frames import to_pandas, to_polars
from ._sync.client import Client
from ._sync.database import Database

__all__ = [
    "AsyncClient",
    "AsyncDatabase",
    "Client",
    "CosiftError",
    "Database",
    "filters",
    "to_pandas",
    "to_polars",
    "types",
]
