"""The remarks of a run

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # With a default for the runs that are there.
    remarks = sa.Column("remarks", sa.JSON(), nullable=False, server_default="[]")
    op.add_column("run", remarks)


def downgrade() -> None:
    op.drop_column("run", "remarks")
