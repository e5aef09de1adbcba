"""The parent of every table: how types and constraints are named."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import ARRAY, Date, DateTime, MetaData, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase


class Tables(DeclarativeBase):
    """The parent of every table; its metadata is what migrations must lead to."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it as a plain class attribute
        str: Text,
        datetime: DateTime(timezone=True),
        date: Date,
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(Text),
    }
