"""The first tables

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "course",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("supersede", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course")),
        sa.UniqueConstraint("slug", name=op.f("uq_course_slug")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("run_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("running", sa.Boolean(), nullable=False),
        sa.Column("deliveries", sa.Integer(), nullable=False),
        sa.Column("enqueued_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index("ix_job_order", ["running", "priority"], unique=False)

    op.create_table(
        "person",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
        sa.UniqueConstraint("email", name=op.f("uq_person_email")),
    )
    op.create_table(
        "problem_file",
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_problem_file")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("level", sa.String(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("warm_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("course_id", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("title", sa.JSON(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["course.id"], name=op.f("fk_assignment_course_id_course")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("course_id", "slug", name=op.f("uq_assignment_course_id")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by_id", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["by_id"], ["person.id"], name=op.f("fk_audit_by_id_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_subject"), ["subject"], unique=False)

    op.create_table(
        "enrolment",
        sa.Column("course_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["course.id"], name=op.f("fk_enrolment_course_id_course")
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_enrolment_person_id_person")
        ),
        sa.PrimaryKeyConstraint("course_id", "person_id", name=op.f("pk_enrolment")),
    )
    with op.batch_alter_table("enrolment", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_enrolment_person_id"), ["person_id"], unique=False)

    op.create_table(
        "problem_version",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("problem_id", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("yaml", sa.LargeBinary(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("title", sa.JSON(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("proof", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("proposed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("by_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["by_id"], ["person.id"], name=op.f("fk_problem_version_by_id_person")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem_version")),
        sa.UniqueConstraint("sha256", name=op.f("uq_problem_version_sha256")),
    )
    with op.batch_alter_table("problem_version", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_problem_version_problem_id"), ["problem_id"], unique=False
        )

    op.create_table(
        "sign_in_link",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_sign_in_link_person_id_person")
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sign_in_link")),
    )
    with op.batch_alter_table("sign_in_link", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_in_link_person_id"), ["person_id"], unique=False)

    op.create_table(
        "token",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_token_person_id_person")
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_token")),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_person_id"), ["person_id"], unique=False)

    op.create_table(
        "web_session",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_web_session_person_id_person")
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_web_session")),
    )
    with op.batch_alter_table("web_session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_web_session_person_id"), ["person_id"], unique=False)

    op.create_table(
        "problem",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("assignment_id", sa.String(), nullable=False),
        sa.Column("current_version_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_problem_assignment_id_assignment")
        ),
        sa.ForeignKeyConstraint(
            ["current_version_id"],
            ["problem_version.id"],
            name=op.f("fk_problem_current_version_id_problem_version"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem")),
    )
    with op.batch_alter_table("problem", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_problem_assignment_id"), ["assignment_id"], unique=False
        )

    op.create_table(
        "submission",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("problem_id", sa.String(), nullable=False),
        sa.Column("course_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("answers", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=True),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["course.id"], name=op.f("fk_submission_course_id_course")
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_submission_person_id_person")
        ),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problem.id"], name=op.f("fk_submission_problem_id_problem")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
    )
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.create_index("ix_submission_course", ["course_id", "id"], unique=False)
        batch_op.create_index(
            "ix_submission_person_problem", ["person_id", "problem_id"], unique=False
        )

    op.create_table(
        "idempotency_key",
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_sha256", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_idempotency_key_person_id_person")
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_idempotency_key_submission_id_submission"),
        ),
        sa.PrimaryKeyConstraint("person_id", "key", name=op.f("pk_idempotency_key")),
    )
    op.create_table(
        "override",
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("check_id", sa.String(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("by_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by_id"], ["person.id"], name=op.f("fk_override_by_id_person")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_override_submission_id_submission")
        ),
        sa.PrimaryKeyConstraint("submission_id", "check_id", name=op.f("pk_override")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("ticket", sa.String(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("sandbox_level", sa.String(), nullable=True),
        sa.Column("printed", sa.String(), nullable=False),
        sa.Column("printed_hidden", sa.String(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("sandbox_s", sa.Double(), nullable=False),
        sa.Column("total_s", sa.Double(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_run_submission_id_submission")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["problem_version.id"], name=op.f("fk_run_version_id_problem_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("submission_id", "number", name=op.f("uq_run_submission_id")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index("ix_run_status", ["status", "queued_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_run_version_id"), ["version_id"], unique=False)

    op.create_table(
        "submission_file",
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submission.id"],
            name=op.f("fk_submission_file_submission_id_submission"),
        ),
        sa.PrimaryKeyConstraint("submission_id", "position", name=op.f("pk_submission_file")),
    )
    op.create_table(
        "result",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("check_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("finding", sa.JSON(), nullable=True),
        sa.Column("misconception", sa.String(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_result_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "check_id", name=op.f("pk_result")),
    )
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END"
        )


def downgrade() -> None:
    op.drop_table("result")
    op.drop_table("submission_file")
    op.drop_table("run")
    op.drop_table("override")
    op.drop_table("idempotency_key")
    op.drop_table("submission")
    op.drop_table("problem")
    op.drop_table("web_session")
    op.drop_table("token")
    op.drop_table("sign_in_link")
    op.drop_table("problem_version")
    op.drop_table("enrolment")
    op.drop_table("audit")
    op.drop_table("assignment")
    op.drop_table("worker")
    op.drop_table("problem_file")
    op.drop_table("person")
    op.drop_table("job")
    op.drop_table("course")
