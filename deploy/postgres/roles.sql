-- Who may do what in ragsonde's database. Run it in that database, by a superuser, before the first
-- `ragsonde migrate` and after every one; it may be run as often as you like:
--
--     psql -d ragsonde -v ON_ERROR_STOP=1 -f roles.sql
--
-- No password stands here: set them with `\password ragsonde_worker` and so on.
--
-- ragsonde_owner    owns the tables; nobody logs in as it
-- ragsonde_migrate  becomes the owner: `ragsonde migrate`, and people's commands
-- ragsonde_monitor  becomes the owner: the monitor detaches and drops partitions, which only an owner may
-- ragsonde_worker   reads and writes rows of the tables that a worker needs, and makes partitions by a function
-- ragsonde_reader   reads what `compare`, `alerts list`, `report` and `ledger` ask, for gates and jobs
-- grafana           reads what the dashboards ask, and no question, context or answer
-- The receiver has no connection to Postgres.

BEGIN;

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY[
        'ragsonde_migrate', 'ragsonde_monitor', 'ragsonde_worker', 'ragsonde_reader', 'grafana'
    ] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', wanted);
        END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ragsonde_owner') THEN
        CREATE ROLE ragsonde_owner NOLOGIN;
    END IF;
END
$$;

GRANT ragsonde_owner TO ragsonde_migrate, ragsonde_monitor;

DO $$
DECLARE
    wanted text;
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    FOREACH wanted IN ARRAY ARRAY[
        'ragsonde_migrate', 'ragsonde_monitor', 'ragsonde_worker', 'ragsonde_reader', 'grafana'
    ] LOOP
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), wanted);
    END LOOP;
    -- what they make belongs to the owner, whoever of the two made it
    FOREACH wanted IN ARRAY ARRAY['ragsonde_migrate', 'ragsonde_monitor'] LOOP
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET role = ragsonde_owner', wanted, current_database());
    END LOOP;
    -- what our programs set at the start of each connection, for those that a pooler opens by itself
    FOREACH wanted IN ARRAY ARRAY['ragsonde_monitor', 'ragsonde_worker', 'ragsonde_reader'] LOOP
        EXECUTE format(
            'ALTER ROLE %I IN DATABASE %I SET statement_timeout = ''30s''', wanted, current_database());
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET lock_timeout = ''10s''', wanted, current_database());
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET timezone = ''UTC''', wanted, current_database());
    END LOOP;
    EXECUTE format('ALTER ROLE grafana IN DATABASE %I SET statement_timeout = ''15s''', current_database());
    FOREACH wanted IN ARRAY ARRAY['ragsonde_reader', 'grafana'] LOOP
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET default_transaction_read_only = on',
            wanted, current_database());
    END LOOP;
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO ragsonde_owner;
GRANT USAGE ON SCHEMA public TO ragsonde_migrate, ragsonde_monitor, ragsonde_worker, ragsonde_reader, grafana;

-- Tables that somebody else made, before this file was run. Partitions have owners of their own.
DO $$
DECLARE
    found regclass;
BEGIN
    FOR found IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
          AND c.relowner <> 'ragsonde_owner'::regrole
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
    LOOP
        -- of a view, too
        EXECUTE format('ALTER TABLE %s OWNER TO ragsonde_owner', found);
    END LOOP;
END
$$;

-- A trace of a day that has no partition makes one. Attaching a table takes the owner of its parent.
-- The statements are those of storage/partitions.py, and a test compares what the two make.
CREATE OR REPLACE FUNCTION ragsonde_make_partition(parent text, day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    made text := parent || '_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF parent NOT IN (
        'trace', 'trace_text', 'evaluation', 'assessment', 'judge_reply', 'score', 'score_block'
    ) THEN
        RAISE EXCEPTION 'found the table %, expected one that is partitioned by day', parent;
    END IF;
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(made) AND inhdetachpending) THEN
        EXECUTE format('ALTER TABLE public.%I DETACH PARTITION public.%I FINALIZE', parent, made);
    END IF;
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(made)) THEN
        RETURN;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS public.%I', made);
    EXECUTE format(
        'CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)',
        made, parent);
    EXECUTE format(
        'ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)',
        parent, made, day, day + 1);
END
$$;
ALTER FUNCTION ragsonde_make_partition(text, date) OWNER TO ragsonde_owner;
REVOKE ALL ON FUNCTION ragsonde_make_partition(text, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ragsonde_make_partition(text, date) TO ragsonde_worker;

-- Rights on tables, first all taken away. What is not named here nobody but the owner may touch: baselines, what the
-- monitor has counted and found. Workers delete too: a trace that comes again after `ragsonde forget` is erased by the
-- worker that takes it. Before the first migration there is nothing to give.
DO $$
DECLARE
    given record;
BEGIN
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, ragsonde_worker, ragsonde_reader, grafana;
    FOR given IN SELECT * FROM (VALUES
        ('ragsonde_worker', 'SELECT', 'alembic_version'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'trace'),
        ('ragsonde_worker', 'SELECT, INSERT, DELETE', 'trace_text'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'evaluation'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'assessment'),
        ('ragsonde_worker', 'SELECT, INSERT, DELETE', 'judge_reply'),
        ('ragsonde_worker', 'SELECT, INSERT, DELETE', 'score'),
        ('ragsonde_worker', 'INSERT', 'dirty_mark'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'suspect'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE', 'parked_message'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'open_record'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'span_buffer'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE', 'tombstone'),
        ('ragsonde_worker', 'SELECT, INSERT', 'tombstone_salt'),
        ('ragsonde_worker', 'SELECT, UPDATE', 'backfill'),
        ('ragsonde_worker', 'SELECT, INSERT, DELETE', 'backfill_item'),
        ('ragsonde_worker', 'SELECT, DELETE', 'check_set'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE, DELETE', 'check_result'),
        -- only to take erased traces out of the lists that name them
        ('ragsonde_worker', 'SELECT (app, explanation), UPDATE (explanation)', 'alert'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE', 'judge_state'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE', 'judge_spend'),
        ('ragsonde_worker', 'SELECT', 'sample_rate'),
        ('ragsonde_worker', 'SELECT', 'label_budget'),
        ('ragsonde_worker', 'SELECT, INSERT, UPDATE', 'user_key'),
        ('ragsonde_reader', 'SELECT', 'alembic_version'),
        ('ragsonde_reader',
         'SELECT (trace_id, app, record_key, revision, day, admitted_at, occurred_at, environment, release, '
         'variant, tags, extraction, evaluations_born)',
         'trace'),
        ('ragsonde_reader', 'SELECT', 'evaluation'),
        ('ragsonde_reader', 'SELECT', 'assessment'),
        ('ragsonde_reader', 'SELECT', 'score'),
        ('ragsonde_reader', 'SELECT', 'current_score'),
        ('ragsonde_reader', 'SELECT', 'scorer_version'),
        ('ragsonde_reader', 'SELECT', 'score_stream'),
        ('ragsonde_reader', 'SELECT', 'judge_epoch'),
        ('ragsonde_reader', 'SELECT', 'alert'),
        ('ragsonde_reader', 'SELECT', 'backfill_item'),
        ('ragsonde_reader', 'SELECT (id, created_at)', 'backfill'),
        ('ragsonde_reader', 'SELECT (reason, parked_at, replayed_at, dropped_at)', 'parked_message'),
        ('ragsonde_reader',
         'SELECT (check_id, judge, fingerprint, answered_fingerprint, day, judged_at, is_reference, scores, '
         'cause, calls, tokens_in, tokens_out, cost_usd)',
         'check_result'),
        ('ragsonde_reader', 'SELECT (id, app, is_active)', 'check_set'),
        ('grafana', 'SELECT', 'current_score'),
        ('grafana', 'SELECT', 'score'),
        ('grafana', 'SELECT (trace_id, app, record_key, revision, day, occurred_at, environment, release)', 'trace'),
        ('grafana', 'SELECT (app, judge, fingerprint, state, created_at, finished_at, calls, cost_usd)', 'evaluation'),
        ('grafana', 'SELECT (judge, period, starts_at, spent_calls, spent_usd, unpriced_calls)', 'judge_spend'),
        ('grafana', 'SELECT (trace_id, app, record_key, revision, day, judge, fingerprint, created_at, verdicts)',
         'assessment'),
        ('grafana', 'SELECT (judge, fingerprint, day, judged_at, cause, calls, cost_usd)', 'check_result'),
        ('grafana', 'SELECT (is_active)', 'check_set'),
        ('grafana', 'SELECT (id, stream_id, app, environment, since, paged_at, closed_at, explanation)', 'alert'),
        ('grafana', 'SELECT', 'score_stream')
    ) AS wanted(grantee, rights, place) LOOP
        IF to_regclass('public.' || given.place) IS NOT NULL THEN
            EXECUTE format('GRANT %s ON public.%I TO %I', given.rights, given.place, given.grantee);
        END IF;
    END LOOP;
END
$$;

COMMIT;
