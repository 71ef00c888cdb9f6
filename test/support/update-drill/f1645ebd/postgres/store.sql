--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: api_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_keys (
    id character varying(36) NOT NULL COLLATE pg_catalog."C",
    client_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    digest character varying(64) NOT NULL COLLATE pg_catalog."C",
    prefix character varying(20) NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    created_at character varying(24) NOT NULL COLLATE pg_catalog."C",
    expires_at character varying(24) COLLATE pg_catalog."C",
    revoked_at character varying(24) COLLATE pg_catalog."C",
    label character varying(255) COLLATE pg_catalog."C",
    last_used_at character varying(24) COLLATE pg_catalog."C",
    replaced_by character varying(36) COLLATE pg_catalog."C",
    issued_until character varying(24) COLLATE pg_catalog."C"
);


--
-- Name: audit_entries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries (
    id bigint NOT NULL,
    at character varying(24) NOT NULL COLLATE pg_catalog."C",
    action character varying(60) NOT NULL COLLATE pg_catalog."C",
    actor character varying(20) NOT NULL COLLATE pg_catalog."C",
    actor_key_id character varying(36) COLLATE pg_catalog."C",
    origin character varying(255) COLLATE pg_catalog."C",
    request_id character varying(128) COLLATE pg_catalog."C",
    client_id character varying(36) COLLATE pg_catalog."C",
    key_id character varying(36) COLLATE pg_catalog."C",
    details text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: audit_entries_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.audit_entries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: audit_entries_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.audit_entries_id_seq OWNED BY public.audit_entries.id;


--
-- Name: clients; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clients (
    id character varying(36) NOT NULL COLLATE pg_catalog."C",
    name character varying(255) NOT NULL COLLATE pg_catalog."C",
    plan character varying(20) NOT NULL COLLATE pg_catalog."C",
    per_minute integer,
    per_day integer,
    created_at character varying(24) NOT NULL COLLATE pg_catalog."C",
    suspended_at character varying(24) COLLATE pg_catalog."C",
    CONSTRAINT clients_enterprise_limits CHECK ((((plan)::text <> 'enterprise'::text) OR ((per_minute IS NOT NULL) AND (per_day IS NOT NULL))))
);


--
-- Name: idempotency_entries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency_entries (
    client_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    key character varying(255) NOT NULL COLLATE pg_catalog."C",
    digest character varying(64) NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    headers text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    created_at character varying(24) NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: instance_notices; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.instance_notices (
    id character varying(36) NOT NULL COLLATE pg_catalog."C",
    says character varying(10) NOT NULL COLLATE pg_catalog."C",
    beat integer NOT NULL
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    name character varying(100) NOT NULL COLLATE pg_catalog."C",
    due_at bigint NOT NULL,
    failures integer NOT NULL
);


--
-- Name: key_bans; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.key_bans (
    key_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    retry_at bigint NOT NULL,
    forgiven_until bigint NOT NULL,
    strikes integer NOT NULL,
    last_strike_at bigint NOT NULL,
    bans integer NOT NULL,
    banned_until bigint NOT NULL,
    lifted_at bigint NOT NULL
);


--
-- Name: leases; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.leases (
    name character varying(200) NOT NULL COLLATE pg_catalog."C",
    holder character varying(36) COLLATE pg_catalog."C",
    beat integer NOT NULL
);


--
-- Name: outbox_events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.outbox_events (
    id bigint NOT NULL,
    listener character varying(100) NOT NULL COLLATE pg_catalog."C",
    event character varying(100) NOT NULL COLLATE pg_catalog."C",
    key character varying(255) NOT NULL COLLATE pg_catalog."C",
    told text NOT NULL COLLATE pg_catalog."C",
    published_at character varying(24) NOT NULL COLLATE pg_catalog."C",
    failures integer NOT NULL,
    due_at bigint,
    error character varying(500) COLLATE pg_catalog."C"
);


--
-- Name: outbox_events_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.outbox_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: outbox_events_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.outbox_events_id_seq OWNED BY public.outbox_events.id;


--
-- Name: pets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pets (
    id bigint NOT NULL,
    name character varying(255) NOT NULL COLLATE pg_catalog."C",
    category_id bigint NOT NULL,
    status character varying(9) NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT pets_status_allowed CHECK (((status)::text = ANY ((ARRAY['available'::character varying, 'pending'::character varying, 'sold'::character varying])::text[])))
);


--
-- Name: pets_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.pets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: pets_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.pets_id_seq OWNED BY public.pets.id;


--
-- Name: quota_counts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.quota_counts (
    key character varying(200) NOT NULL COLLATE pg_catalog."C",
    window_start bigint NOT NULL,
    used integer NOT NULL
);


--
-- Name: quota_minutes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.quota_minutes (
    key character varying(200) NOT NULL COLLATE pg_catalog."C",
    window_start bigint NOT NULL,
    used integer NOT NULL
);


--
-- Name: refused_requests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.refused_requests (
    id bigint NOT NULL,
    at character varying(24) NOT NULL COLLATE pg_catalog."C",
    request_id character varying(128) NOT NULL COLLATE pg_catalog."C",
    client_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    key_id character varying(36) COLLATE pg_catalog."C",
    operation character varying(200) NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    code character varying(96) COLLATE pg_catalog."C",
    address character varying(45) COLLATE pg_catalog."C"
);


--
-- Name: refused_requests_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.refused_requests_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: refused_requests_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.refused_requests_id_seq OWNED BY public.refused_requests.id;


--
-- Name: request_counts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.request_counts (
    client_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    length_ms integer NOT NULL,
    window_start bigint NOT NULL,
    key_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    operation character varying(200) NOT NULL COLLATE pg_catalog."C",
    outcome character varying(100) NOT NULL COLLATE pg_catalog."C",
    bucket integer NOT NULL,
    requests integer NOT NULL
);


--
-- Name: schema_expansions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_expansions (
    name character varying(255) NOT NULL
);


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_migrations (
    id bigint NOT NULL,
    "timestamp" bigint NOT NULL,
    name character varying NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: schema_migrations_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.schema_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: schema_migrations_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.schema_migrations_id_seq OWNED BY public.schema_migrations.id;


--
-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_deliveries (
    id bigint NOT NULL,
    endpoint_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    message_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    state character varying(10) NOT NULL COLLATE pg_catalog."C",
    attempts integer NOT NULL,
    attempted_at character varying(24) COLLATE pg_catalog."C",
    status integer,
    error character varying(500) COLLATE pg_catalog."C"
);


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.webhook_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.webhook_deliveries_id_seq OWNED BY public.webhook_deliveries.id;


--
-- Name: webhook_endpoints; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_endpoints (
    id character varying(36) NOT NULL COLLATE pg_catalog."C",
    client_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    url character varying(2048) NOT NULL COLLATE pg_catalog."C",
    label character varying(255) COLLATE pg_catalog."C",
    secret character varying(100) NOT NULL COLLATE pg_catalog."C",
    previous_secrets text NOT NULL COLLATE pg_catalog."C",
    created_at character varying(24) NOT NULL COLLATE pg_catalog."C",
    disabled_at character varying(24) COLLATE pg_catalog."C",
    disabled_because character varying(20) COLLATE pg_catalog."C",
    failures integer NOT NULL,
    failing_since character varying(24) COLLATE pg_catalog."C",
    due_at bigint NOT NULL,
    delay integer NOT NULL
);


--
-- Name: webhook_fan_outs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_fan_outs (
    id bigint NOT NULL,
    message_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    client_id character varying(36) COLLATE pg_catalog."C"
);


--
-- Name: webhook_fan_outs_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.webhook_fan_outs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: webhook_fan_outs_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.webhook_fan_outs_id_seq OWNED BY public.webhook_fan_outs.id;


--
-- Name: webhook_messages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_messages (
    id character varying(36) NOT NULL COLLATE pg_catalog."C",
    event character varying(100) NOT NULL COLLATE pg_catalog."C",
    payload text NOT NULL COLLATE pg_catalog."C",
    created_at character varying(24) NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: webhook_subscriptions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_subscriptions (
    endpoint_id character varying(36) NOT NULL COLLATE pg_catalog."C",
    event character varying(100) NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: audit_entries id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries ALTER COLUMN id SET DEFAULT nextval('public.audit_entries_id_seq'::regclass);


--
-- Name: outbox_events id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.outbox_events ALTER COLUMN id SET DEFAULT nextval('public.outbox_events_id_seq'::regclass);


--
-- Name: pets id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pets ALTER COLUMN id SET DEFAULT nextval('public.pets_id_seq'::regclass);


--
-- Name: refused_requests id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refused_requests ALTER COLUMN id SET DEFAULT nextval('public.refused_requests_id_seq'::regclass);


--
-- Name: schema_migrations id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations ALTER COLUMN id SET DEFAULT nextval('public.schema_migrations_id_seq'::regclass);


--
-- Name: webhook_deliveries id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries ALTER COLUMN id SET DEFAULT nextval('public.webhook_deliveries_id_seq'::regclass);


--
-- Name: webhook_fan_outs id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_fan_outs ALTER COLUMN id SET DEFAULT nextval('public.webhook_fan_outs_id_seq'::regclass);


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_keys VALUES ('d34de690-8988-4847-9062-adb0a414539c', '3137426c-6054-4cec-8a01-f390e91555c1', '359d20c8595ced2f371896dc1e742c343411a398d77f42f2d6b528d1979c4930', 'pst_live_2I21', '["pets:read","pets:write"]', '2026-11-25T12:00:54.085Z', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('43364b0e-bd44-4481-8a01-f1cb0b44630b', '7c9734cc-220a-4287-b46b-c58f8d350c45', '553d67af672999ca4cf1e4b25cc18155621476b8c05ad99de7425d5ce8213cba', 'pst_live_QXps', '["pets:read","pets:write"]', '2026-11-25T12:00:58.546Z', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('c1c4f518-3aab-41c3-a4f0-be31824b085d', '8a40c626-9a55-497c-b594-bde58045ad91', '65b0171f89ed543086cc1ee6599693a591cf39381063b5d3b7d56339419f4f31', 'pst_live_QddS', '["pets:read","pets:write"]', '2026-11-25T12:01:03.260Z', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('10060fbb-1ab1-411b-8cc2-a1df84bd7da5', '7cecf40e-03cb-4793-8309-471c5d445b6b', '1515e2d716102ccbfdf5f289314bf3242291f682b6ef5730a44f7d6eb0020d7c', 'pst_live_HhSr', '["pets:read","pets:write"]', '2026-11-25T12:01:19.827Z', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('ced9984a-9aed-4ef1-8f86-062f432b3d36', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'b4e9eda26a0a5acc6b147f815c21c75ca562bff3287b14604003faf06a6f5406', 'pst_live_bsrB', '["account","pets:read","pets:write"]', '2026-11-25T12:00:48.719Z', NULL, NULL, NULL, '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('d378d82c-508b-48e7-b4e8-1aab307846c0', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '35eb2845c0edf88694723cd076ba86dd797024415558531a44ece7fd73cade54', 'pst_live_Pnms', '["pets:read","pets:write"]', '2026-11-25T12:01:22.118Z', '2026-11-26T12:01:22.118Z', NULL, 'expired', '2026-11-25T12:01:00.000Z', NULL, '2026-11-26T12:01:22.118Z');
INSERT INTO public.api_keys VALUES ('0c8358b6-057a-4645-9d43-3e119a5ccb76', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '7b01a0d305f12cd37f5a465890cb059b65ab4b5e00aa16ed2fa1f9e4932b82d0', 'pst_live_xK5B', '["pets:read","pets:write"]', '2026-11-25T12:01:36.852Z', NULL, '2026-11-25T12:01:56.149Z', 'revoked', NULL, NULL, NULL);
INSERT INTO public.api_keys VALUES ('ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'f1d65124-913f-41c5-a8c6-a0c033e96703', '2c366764a2778efd59dcdc2e383f9b9521b53d34ed6d6b934f00d2ce5e4fd99c', 'pst_live_kGHK', '["account","admin","pets:read","pets:write"]', '2026-11-25T12:00:44.358Z', NULL, NULL, NULL, '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('77e2e18e-e3c9-43de-9a14-d761917781d4', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'aedc23a45fcae18c25a780b38cb1d1e1d4effddd55df841af0c43918afde2671', 'pst_live_rR5Q', '["pets:read","pets:write"]', '2026-11-25T12:01:25.366Z', '2026-12-25T12:01:25.366Z', NULL, 'expires', '2026-11-28T12:00:00.000Z', NULL, '2026-12-25T12:01:25.366Z');
INSERT INTO public.api_keys VALUES ('dd03118c-0004-4445-a9ee-b0ec1c417abb', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '569fc6af576adf80580ba18647a51e55f1948d6950e8fd8838343fc32d9abff7', 'pst_live_M7mz', '["pets:read","pets:write"]', '2026-11-28T11:00:39.498Z', NULL, NULL, 'rotated', '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('d4291b87-4e67-49b0-97a1-b57f55f508cf', '59c3784f-97b3-491f-9532-00e30e5089ab', 'eb787e7adbf24232d503afa842713c414dc6ab1bd4a63d2947dd30c889bd75be', 'pst_live_6qPQ', '["pets:read","pets:write"]', '2026-11-25T12:01:08.278Z', NULL, NULL, NULL, '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('4f010b56-2929-492d-9946-0f6da1d2c513', '9145af88-0eeb-459f-a8b4-5457c25b57a3', '96dd0485f2a32e96e9c52d92dad0eee34193d070c616b23d9c33c87b29bbe5f7', 'pst_live_wWh4', '["pets:read","pets:write"]', '2026-11-25T12:01:12.634Z', NULL, NULL, NULL, '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('5cda8f87-fed6-486d-8d02-519661082c11', 'f1d65124-913f-41c5-a8c6-a0c033e96703', '95d715a4690c23c915b8a77cd2477226e69f0943a82eb4020fe628e238b358f5', 'pst_live_kuSh', '["admin:read"]', '2026-11-25T12:01:49.198Z', NULL, NULL, 'reads admin', '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('eb925eee-7e83-4e07-937f-34aecacf3354', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'b2e05efc8bd7989c5735d6cdc5497d308ddeca9c08c22957e1ed7d44f84edd23', 'pst_live_mxEQ', '["pets:read","pets:write"]', '2026-11-25T12:01:43.961Z', '2026-11-29T11:00:39.503Z', NULL, 'rotated', '2026-11-28T12:00:00.000Z', 'dd03118c-0004-4445-a9ee-b0ec1c417abb', NULL);
INSERT INTO public.api_keys VALUES ('c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'df1302221ced618d68009a72e730d05a6707bb5ac041775267b5097db9817853', 'pst_live_xxiw', '["pets:read","pets:write"]', '2026-11-25T12:01:16.822Z', NULL, NULL, NULL, '2026-11-28T12:00:00.000Z', NULL, NULL);
INSERT INTO public.api_keys VALUES ('21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'cf1f93c40cdb1931d42b14658d38c43a7f4de408efc76b8f08130ad800e3ef1e', 'pst_live_0tiq', '["pets:read"]', '2026-11-25T12:01:30.502Z', NULL, NULL, 'reads', '2026-11-28T12:00:00.000Z', NULL, NULL);


--
-- Data for Name: audit_entries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_entries VALUES (1, '2026-11-25T12:00:44.317Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, 'f1d65124-913f-41c5-a8c6-a0c033e96703', NULL, '{"name":"Operators","plan":"enterprise","perMinute":100000,"perDay":1000000}');
INSERT INTO public.audit_entries VALUES (2, '2026-11-25T12:00:44.374Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'f1d65124-913f-41c5-a8c6-a0c033e96703', 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', '{"prefix":"pst_live_kGHK","scopes":["account","admin","pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (3, '2026-11-25T12:00:48.702Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', NULL, '{"name":"Shop","plan":"free","perMinute":60,"perDay":1000}');
INSERT INTO public.audit_entries VALUES (4, '2026-11-25T12:00:48.730Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', '{"prefix":"pst_live_bsrB","scopes":["account","pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (5, '2026-11-25T12:00:53.986Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '3137426c-6054-4cec-8a01-f390e91555c1', NULL, '{"name":"pro","plan":"pro","perMinute":300,"perDay":10000}');
INSERT INTO public.audit_entries VALUES (6, '2026-11-25T12:00:54.125Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '3137426c-6054-4cec-8a01-f390e91555c1', 'd34de690-8988-4847-9062-adb0a414539c', '{"prefix":"pst_live_2I21","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (7, '2026-11-25T12:00:58.495Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '7c9734cc-220a-4287-b46b-c58f8d350c45', NULL, '{"name":"business","plan":"business","perMinute":1000,"perDay":100000}');
INSERT INTO public.audit_entries VALUES (8, '2026-11-25T12:00:58.568Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '7c9734cc-220a-4287-b46b-c58f8d350c45', '43364b0e-bd44-4481-8a01-f1cb0b44630b', '{"prefix":"pst_live_QXps","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (9, '2026-11-25T12:01:03.214Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '8a40c626-9a55-497c-b594-bde58045ad91', NULL, '{"name":"team","plan":"team","perMinute":500,"perDay":50000}');
INSERT INTO public.audit_entries VALUES (10, '2026-11-25T12:01:03.271Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '8a40c626-9a55-497c-b594-bde58045ad91', 'c1c4f518-3aab-41c3-a4f0-be31824b085d', '{"prefix":"pst_live_QddS","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (11, '2026-11-25T12:01:08.209Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '59c3784f-97b3-491f-9532-00e30e5089ab', NULL, '{"name":"Few a day","plan":"enterprise","perMinute":100,"perDay":20}');
INSERT INTO public.audit_entries VALUES (12, '2026-11-25T12:01:08.282Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '59c3784f-97b3-491f-9532-00e30e5089ab', 'd4291b87-4e67-49b0-97a1-b57f55f508cf', '{"prefix":"pst_live_6qPQ","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (13, '2026-11-25T12:01:12.611Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '9145af88-0eeb-459f-a8b4-5457c25b57a3', NULL, '{"name":"Few a minute","plan":"enterprise","perMinute":5,"perDay":1000}');
INSERT INTO public.audit_entries VALUES (14, '2026-11-25T12:01:12.657Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '9145af88-0eeb-459f-a8b4-5457c25b57a3', '4f010b56-2929-492d-9946-0f6da1d2c513', '{"prefix":"pst_live_wWh4","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (15, '2026-11-25T12:01:16.758Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', NULL, '{"name":"Banned","plan":"enterprise","perMinute":2,"perDay":1000}');
INSERT INTO public.audit_entries VALUES (16, '2026-11-25T12:01:16.843Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', '{"prefix":"pst_live_xxiw","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (17, '2026-11-25T12:01:19.800Z', 'client.created', 'command_line', NULL, 'operator@shop', NULL, '7cecf40e-03cb-4793-8309-471c5d445b6b', NULL, '{"name":"Suspended","plan":"pro","perMinute":300,"perDay":10000}');
INSERT INTO public.audit_entries VALUES (18, '2026-11-25T12:01:19.831Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, '7cecf40e-03cb-4793-8309-471c5d445b6b', '10060fbb-1ab1-411b-8cc2-a1df84bd7da5', '{"prefix":"pst_live_HhSr","scopes":["pets:read","pets:write"],"label":null,"expiresAt":null}');
INSERT INTO public.audit_entries VALUES (19, '2026-11-25T12:01:22.187Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'd378d82c-508b-48e7-b4e8-1aab307846c0', '{"prefix":"pst_live_Pnms","scopes":["pets:read","pets:write"],"label":"expired","expiresAt":"2026-11-26T12:01:22.118Z"}');
INSERT INTO public.audit_entries VALUES (20, '2026-11-25T12:01:25.379Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '77e2e18e-e3c9-43de-9a14-d761917781d4', '{"prefix":"pst_live_rR5Q","scopes":["pets:read","pets:write"],"label":"expires","expiresAt":"2026-12-25T12:01:25.366Z"}');
INSERT INTO public.audit_entries VALUES (21, '2026-11-25T12:01:30.558Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', '{"prefix":"pst_live_0tiq","scopes":["pets:read"],"label":"reads","expiresAt":null}');
INSERT INTO public.audit_entries VALUES (22, '2026-11-25T12:01:36.882Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '0c8358b6-057a-4645-9d43-3e119a5ccb76', '{"prefix":"pst_live_xK5B","scopes":["pets:read","pets:write"],"label":"revoked","expiresAt":null}');
INSERT INTO public.audit_entries VALUES (23, '2026-11-25T12:01:43.969Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'eb925eee-7e83-4e07-937f-34aecacf3354', '{"prefix":"pst_live_mxEQ","scopes":["pets:read","pets:write"],"label":"rotated","expiresAt":null}');
INSERT INTO public.audit_entries VALUES (24, '2026-11-25T12:01:49.256Z', 'api_key.issued', 'command_line', NULL, 'operator@shop', NULL, 'f1d65124-913f-41c5-a8c6-a0c033e96703', '5cda8f87-fed6-486d-8d02-519661082c11', '{"prefix":"pst_live_kuSh","scopes":["admin:read"],"label":"reads admin","expiresAt":null}');
INSERT INTO public.audit_entries VALUES (25, '2026-11-25T12:01:56.183Z', 'api_key.revoked', 'key', 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', '127.0.0.1', '9859ca8c-227a-46c0-8833-c0a8585c9c18', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '0c8358b6-057a-4645-9d43-3e119a5ccb76', '{"prefix":"pst_live_xK5B"}');
INSERT INTO public.audit_entries VALUES (26, '2026-11-25T12:01:56.306Z', 'client.suspended', 'key', 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', '127.0.0.1', 'b4016c70-a8fb-477e-8e68-30bc5a89d15e', '7cecf40e-03cb-4793-8309-471c5d445b6b', NULL, '{"suspendedAt":"2026-11-25T12:01:56.302Z"}');
INSERT INTO public.audit_entries VALUES (27, '2026-11-28T11:00:36.936Z', 'webhook_endpoint.created', 'key', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', '127.0.0.1', '8544aa36-d747-4dbc-b021-e17eaad5e2fe', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', NULL, '{"endpointId":"166d1419-d5a7-4b6f-a8f6-568718e77538","url":"http://127.0.0.1:1","events":["api_key.banned","api_key.expiring","pets.created","quota.threshold"],"label":"up"}');
INSERT INTO public.audit_entries VALUES (28, '2026-11-28T11:00:37.103Z', 'webhook_endpoint.created', 'key', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', '127.0.0.1', '848d32e5-cbb0-41b6-bc4b-7a55ba51ebb4', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', NULL, '{"endpointId":"1a366f5e-46b9-47c2-9b95-d21ba974d4c9","url":"http://127.0.0.1:2","events":["pets.created"],"label":"down"}');
INSERT INTO public.audit_entries VALUES (29, '2026-11-28T11:00:37.289Z', 'webhook_endpoint.created', 'key', 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', '127.0.0.1', '6b0b3147-6fc7-45be-a751-a41ffc1fd776', '3137426c-6054-4cec-8a01-f390e91555c1', NULL, '{"endpointId":"04154036-5e4b-454e-acb5-3506a77971ac","url":"http://127.0.0.1:1","events":["pets.created"],"label":"gone"}');
INSERT INTO public.audit_entries VALUES (30, '2026-11-28T11:00:37.426Z', 'webhook_endpoint.secret_rotated', 'key', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', '127.0.0.1', '73633443-c7ef-4f48-bef0-53321840b659', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', NULL, '{"endpointId":"166d1419-d5a7-4b6f-a8f6-568718e77538","previousSecretUntil":"2026-11-29T11:00:37.403Z"}');
INSERT INTO public.audit_entries VALUES (31, '2026-11-28T11:00:37.881Z', 'webhook_endpoint.disabled', 'service', NULL, NULL, NULL, '3137426c-6054-4cec-8a01-f390e91555c1', NULL, '{"endpointId":"04154036-5e4b-454e-acb5-3506a77971ac","because":"gone"}');
INSERT INTO public.audit_entries VALUES (32, '2026-11-28T11:00:39.510Z', 'api_key.rotated', 'key', 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', '127.0.0.1', 'f1343778-a091-4917-aaa2-4fcee01536f7', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'eb925eee-7e83-4e07-937f-34aecacf3354', '{"replacedBy":"dd03118c-0004-4445-a9ee-b0ec1c417abb","prefix":"pst_live_M7mz","expiresAt":null,"oldExpiresAt":"2026-11-29T11:00:39.503Z"}');


--
-- Data for Name: clients; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.clients VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 'Operators', 'enterprise', 100000, 1000000, '2026-11-25T12:00:44.290Z', NULL);
INSERT INTO public.clients VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 'Shop', 'free', NULL, NULL, '2026-11-25T12:00:48.683Z', NULL);
INSERT INTO public.clients VALUES ('3137426c-6054-4cec-8a01-f390e91555c1', 'pro', 'pro', NULL, NULL, '2026-11-25T12:00:53.885Z', NULL);
INSERT INTO public.clients VALUES ('7c9734cc-220a-4287-b46b-c58f8d350c45', 'business', 'business', NULL, NULL, '2026-11-25T12:00:58.459Z', NULL);
INSERT INTO public.clients VALUES ('8a40c626-9a55-497c-b594-bde58045ad91', 'team', 'team', NULL, NULL, '2026-11-25T12:01:03.123Z', NULL);
INSERT INTO public.clients VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 'Few a day', 'enterprise', 100, 20, '2026-11-25T12:01:08.168Z', NULL);
INSERT INTO public.clients VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 'Few a minute', 'enterprise', 5, 1000, '2026-11-25T12:01:12.583Z', NULL);
INSERT INTO public.clients VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'Banned', 'enterprise', 2, 1000, '2026-11-25T12:01:16.709Z', NULL);
INSERT INTO public.clients VALUES ('7cecf40e-03cb-4793-8309-471c5d445b6b', 'Suspended', 'pro', NULL, NULL, '2026-11-25T12:01:19.786Z', '2026-11-25T12:01:56.302Z');


--
-- Data for Name: idempotency_entries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_entries VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 'made-once', '143ae858ce5eff8bbe5906f467f92b311e338f5cbfa38ce6295f3bd675c6fc0b', 201, '{"location":"/v1/pets/10","content-type":"application/json; charset=utf-8"}', '{"id":10,"name":"Made once","categoryId":3,"status":"available"}', '2026-11-28T11:00:39.653Z');


--
-- Data for Name: instance_notices; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.instance_notices VALUES ('d1740a2f-05eb-47b8-9cc3-6b49382170ce', 'caches', 2);


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('api_keys.tell_of_end', 1795867315015, 0);


--
-- Data for Name: key_bans; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.key_bans VALUES ('c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 1795867356367, 1795867035870, 0, 1795867356367, 1, 1795867356367, 0);


--
-- Data for Name: leases; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.leases VALUES ('listener/recorder', NULL, 6);
INSERT INTO public.leases VALUES ('job/api_keys.tell_of_end', NULL, 4);
INSERT INTO public.leases VALUES ('webhooks', 'f41e7516-c266-4b03-be2f-2de74c9d123d', 11);


--
-- Data for Name: outbox_events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.outbox_events VALUES (1, 'recorder', 'pet.sold', '7', '{"petId":{"$int64":"7"},"step":"first"}', '2026-11-28T11:00:53.265Z', 20, NULL, 'Error: EISDIR: illegal operation on a directory, open ''heard.txt''');
INSERT INTO public.outbox_events VALUES (2, 'recorder', 'pet.sold', '7', '{"petId":{"$int64":"7"},"step":"second"}', '2026-11-28T11:00:53.281Z', 2, 1795863666530, 'Error: EISDIR: illegal operation on a directory, open ''heard.txt''');


--
-- Data for Name: pets; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.pets VALUES (1, 'Ümlaut 🐾 0', 9223372036854775807, 'sold');
INSERT INTO public.pets VALUES (2, 'Ümlaut 🐾 1', -9223372036854775808, 'sold');
INSERT INTO public.pets VALUES (3, 'Ümlaut 🐾 2', 0, 'sold');
INSERT INTO public.pets VALUES (4, 'Rex', 7, 'available');
INSERT INTO public.pets VALUES (5, 'Tom', 7, 'available');
INSERT INTO public.pets VALUES (6, 'O''Malley', 7, 'available');
INSERT INTO public.pets VALUES (9007199254740993, 'Beyond 2^53', 9007199254740993, 'pending');
INSERT INTO public.pets VALUES (7, 'Delivered', 1, 'available');
INSERT INTO public.pets VALUES (8, 'Waits first', 1, 'available');
INSERT INTO public.pets VALUES (9, 'Waits second', 1, 'available');
INSERT INTO public.pets VALUES (10, 'Made once', 3, 'available');
INSERT INTO public.pets VALUES (11, 'first', 1, 'sold');
INSERT INTO public.pets VALUES (12, 'second', 1, 'sold');
INSERT INTO public.pets VALUES (13, 'Fans out later', 1, 'available');


--
-- Data for Name: quota_counts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.quota_counts VALUES ('client:dc9e1e29-5276-43fe-bec1-a140ab36595d', 1795564800000, 10);
INSERT INTO public.quota_counts VALUES ('client:f1d65124-913f-41c5-a8c6-a0c033e96703', 1795564800000, 2);
INSERT INTO public.quota_counts VALUES ('client:22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 1795824000000, 4);
INSERT INTO public.quota_counts VALUES ('client:f1d65124-913f-41c5-a8c6-a0c033e96703', 1795824000000, 20);
INSERT INTO public.quota_counts VALUES ('client:dc9e1e29-5276-43fe-bec1-a140ab36595d', 1795824000000, 19);
INSERT INTO public.quota_counts VALUES ('client:59c3784f-97b3-491f-9532-00e30e5089ab', 1795824000000, 14);
INSERT INTO public.quota_counts VALUES ('client:9145af88-0eeb-459f-a8b4-5457c25b57a3', 1795824000000, 4);


--
-- Data for Name: quota_minutes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.quota_minutes VALUES ('client:22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 1795867080000, 2);
INSERT INTO public.quota_minutes VALUES ('client:f1d65124-913f-41c5-a8c6-a0c033e96703', 1795867200000, 18);
INSERT INTO public.quota_minutes VALUES ('client:dc9e1e29-5276-43fe-bec1-a140ab36595d', 1795867200000, 15);
INSERT INTO public.quota_minutes VALUES ('client:59c3784f-97b3-491f-9532-00e30e5089ab', 1795867200000, 5);
INSERT INTO public.quota_minutes VALUES ('client:9145af88-0eeb-459f-a8b4-5457c25b57a3', 1795867200000, 4);


--
-- Data for Name: refused_requests; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.refused_requests VALUES (1, '2026-11-25T12:01:55.898Z', '6c60c7cb-9a88-49b4-b760-04eee15f8194', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 404, 'pet_not_found', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (2, '2026-11-25T12:01:55.916Z', '8a181a4f-0658-425b-98c1-83d12cc1019f', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 400, 'validation_failed', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (3, '2026-11-25T12:01:55.966Z', 'f1f5a118-5b90-4f85-b559-fef001c98b04', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET unmatched', 404, 'route_not_found', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (4, '2026-11-28T11:57:13.924Z', '1a379983-95fa-4a41-853d-a5639ab12544', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (5, '2026-11-28T11:57:16.061Z', 'c4a197cc-a437-499b-af7d-0fa23d3d6575', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (6, '2026-11-28T11:57:17.125Z', '5c81c8d1-4558-4f55-a80c-d8859449cb50', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (7, '2026-11-28T11:57:18.187Z', '232d9ef5-9ed0-464c-8034-eb7a8f176c54', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (8, '2026-11-28T11:57:19.279Z', '1d7f4457-49ba-4c28-9f86-3747af9f9f19', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (9, '2026-11-28T11:57:20.357Z', '71650b4d-8eca-41f4-bacb-dd2385a06691', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (10, '2026-11-28T11:57:21.398Z', '78ec568f-2358-4e40-87d7-774089b5e114', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (11, '2026-11-28T11:57:22.479Z', 'ca14522c-d65e-4684-82e9-a49fe5a17a6d', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (12, '2026-11-28T11:57:23.531Z', '33694c34-41ea-40f1-8890-1c5b5f348e85', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (13, '2026-11-28T11:57:24.611Z', 'a5cc1d4c-adf3-46e7-b188-8c70bd6a7ddb', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (14, '2026-11-28T11:57:25.679Z', '05b7b70e-a65c-4905-b877-c30b4c459754', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (15, '2026-11-28T11:57:26.754Z', '7b7b496b-64aa-4290-87ab-ca99149b9273', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (16, '2026-11-28T11:57:27.817Z', 'dc1ffcca-1ad3-4670-9c27-a3f49779aa51', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (17, '2026-11-28T11:57:28.878Z', '74fb5904-177b-4121-b3e0-2a84f05d4984', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (18, '2026-11-28T11:57:29.943Z', 'eb54c29d-5f1d-4ea3-8331-ada972843a3f', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (19, '2026-11-28T11:57:31.025Z', 'ae93c61f-e201-4bd9-86d5-0815d1f4443a', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (20, '2026-11-28T11:57:32.096Z', 'a9ca85f9-ad90-42f3-b1be-93e32b6cea46', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (21, '2026-11-28T11:57:33.164Z', 'a9aa2e21-0e7d-4f91-b241-19ab468b5ceb', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (22, '2026-11-28T11:57:34.216Z', '422bfe3c-14ce-4916-a8ac-ea76fdfd7367', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (23, '2026-11-28T11:57:35.309Z', '05382491-3ea6-4786-ba03-b0fee40871aa', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (24, '2026-11-28T11:57:36.420Z', 'dcbe6027-ff79-436b-afd5-85b74c7aa9cc', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'api_key_banned', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (25, '2026-11-28T11:58:15.793Z', '20c30a99-b7bd-4d23-9f95-3b141a02d3ce', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (26, '2026-11-28T11:58:17.918Z', '123d515f-97c5-4198-a005-b99e67717a9d', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (27, '2026-11-28T11:58:19.036Z', '681d35ba-300d-4c20-8eda-ab0d5a447d44', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (28, '2026-11-28T11:58:20.088Z', '810cc908-d016-4e31-8ec7-f004a3093ea5', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (29, '2026-11-28T11:58:21.237Z', '8379b908-db5e-4a93-80c6-9c621e2168ff', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (30, '2026-11-28T11:58:22.321Z', '85a09d3e-5f1e-415b-b6ec-d4530cccfcc8', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (31, '2026-11-28T11:58:23.462Z', '87e29b41-bd86-4270-9915-f916a6381fb3', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (32, '2026-11-28T11:58:24.542Z', '71ed0cc5-9c3a-406d-82e2-a67713232d66', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (33, '2026-11-28T11:58:25.641Z', '69b62f8a-ff21-487a-b893-7287490d0be7', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (34, '2026-11-28T11:58:26.702Z', '1503afd9-3bb3-444c-8830-93bcdf2f8cb2', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (35, '2026-11-28T11:58:27.774Z', 'a8049a8c-36b9-495a-a234-5efa1ece47f9', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (36, '2026-11-28T11:58:28.839Z', '6c2b1d52-1a0e-40dd-a16a-d956056e8828', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (37, '2026-11-28T11:58:29.918Z', '81dbda5d-9cfa-406a-b5e4-8f2b318ee7a8', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (38, '2026-11-28T11:58:31.025Z', '514d9efc-aad9-4023-8dfa-b0e7b1732f4f', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (39, '2026-11-28T11:58:32.108Z', '1099a87c-d3e3-46ae-a300-df540be35a13', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (40, '2026-11-28T11:58:33.165Z', '1ed7876e-b8ce-4791-b5a0-7e40a9109ac7', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (41, '2026-11-28T11:58:34.228Z', 'd7b30e6d-a38c-4839-ab42-946ee3295daa', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (42, '2026-11-28T11:58:35.289Z', '71176bb2-61e7-4f67-87cc-7c4084cd89de', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (43, '2026-11-28T11:58:36.417Z', '0a22ab01-c4cf-4d62-938b-d872391ea643', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (44, '2026-11-28T11:58:37.478Z', '31bd5af0-0ae6-4980-b61d-9b0dfb79112b', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'rate_limit_exceeded', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (45, '2026-11-28T11:58:38.558Z', '00b5abd6-34b5-41e7-94e0-a5301d696848', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'api_key_banned', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (46, '2026-11-28T12:00:23.012Z', 'cd3abab1-1bc4-41df-8082-ebd8bd0a95ac', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 404, 'pet_not_found', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (47, '2026-11-28T12:00:23.134Z', '5e6fb0b2-d2ba-45e7-9498-b365c00daf30', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /admin/clients', 403, 'insufficient_scope', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (48, '2026-11-28T12:00:23.124Z', '73681376-822f-416f-818c-16adaaa4e1c6', '7cecf40e-03cb-4793-8309-471c5d445b6b', '10060fbb-1ab1-411b-8cc2-a1df84bd7da5', 'GET /v1/pets/:petId', 403, 'client_suspended', '127.0.0.1');
INSERT INTO public.refused_requests VALUES (49, '2026-11-28T12:00:23.130Z', '5dab5553-09d8-4f41-884a-8277bd5f5347', '22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 429, 'api_key_banned', '127.0.0.1');


--
-- Data for Name: request_counts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 5, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 'deprecated', 0, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'd378d82c-508b-48e7-b4e8-1aab307846c0', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'd378d82c-508b-48e7-b4e8-1aab307846c0', 'GET /v1/pets/:petId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '404 pet_not_found', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 6, 3);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET unmatched', '404 route_not_found', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795608060000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '400 validation_failed', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET unmatched', '404 route_not_found', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '400 validation_failed', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 5, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'd378d82c-508b-48e7-b4e8-1aab307846c0', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '404 pet_not_found', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 'deprecated', 0, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'd378d82c-508b-48e7-b4e8-1aab307846c0', 'GET /v1/pets/:petId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795564800000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 6, 3);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795608060000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/clients/:clientId/suspend', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795608060000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/keys/:keyId/revoke', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795564800000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/keys/:keyId/revoke', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795564800000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/clients/:clientId/suspend', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795863600000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /account/webhooks', '2xx uncounted', 8, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /account/webhooks', '2xx uncounted', 8, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795863600000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /account/webhooks/:endpointId/rotate-secret', '2xx uncounted', 8, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795863600000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/webhooks', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /account/webhooks/:endpointId/rotate-secret', '2xx uncounted', 8, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/webhooks', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795863600000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 7, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 7, 2);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795863600000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 4, 2);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795863600000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', 'deprecated', 0, 9);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795863600000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 8, 2);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795863600000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 3, 2);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795863600000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795863600000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/keys/:keyId/rotate', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795863600000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 5, 4);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 86400000, 1795824000000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 5, 4);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 86400000, 1795824000000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 3, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /admin/keys/:keyId/rotate', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'POST /v1/pets', '2xx', 8, 2);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 'deprecated', 0, 2);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 'deprecated', 0, 4);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 86400000, 1795824000000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 6, 3);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 86400000, 1795824000000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', 'deprecated', 0, 14);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 86400000, 1795824000000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 4, 3);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 7, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '2xx', 7, 3);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 4, 7);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 2, 4);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 6, 4);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 4, 3);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 5, 5);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 3, 4);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 1, 2);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 1, 2);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 6, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867020000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 api_key_banned', 6, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 api_key_banned', 6, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '2xx', 7, 2);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 2, 5);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 3, 6);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 7, 4);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 5, 12);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', 'deprecated', 0, 2);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795867200000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', 'deprecated', 0, 5);
INSERT INTO public.request_counts VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 60000, 1795867200000, '4f010b56-2929-492d-9946-0f6da1d2c513', 'GET /v1/pets/:petId', 'deprecated', 0, 4);
INSERT INTO public.request_counts VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 60000, 1795867200000, '4f010b56-2929-492d-9946-0f6da1d2c513', 'GET /v1/pets/:petId', '2xx', 5, 3);
INSERT INTO public.request_counts VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 86400000, 1795824000000, '4f010b56-2929-492d-9946-0f6da1d2c513', 'GET /v1/pets/:petId', '2xx', 5, 3);
INSERT INTO public.request_counts VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 86400000, 1795824000000, '4f010b56-2929-492d-9946-0f6da1d2c513', 'GET /v1/pets/:petId', 'deprecated', 0, 4);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 4, 4);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 6, 3);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 2, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 3, 2);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 7, 3);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 rate_limit_exceeded', 5, 7);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867080000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 api_key_banned', 5, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 api_key_banned', 5, 1);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795867200000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 6, 2);
INSERT INTO public.request_counts VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 60000, 1795867200000, '4f010b56-2929-492d-9946-0f6da1d2c513', 'GET /v1/pets/:petId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795867200000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 8, 2);
INSERT INTO public.request_counts VALUES ('9145af88-0eeb-459f-a8b4-5457c25b57a3', 86400000, 1795824000000, '4f010b56-2929-492d-9946-0f6da1d2c513', 'GET /v1/pets/:petId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 86400000, 1795824000000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 8, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /v1/pets', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'POST /v1/pets', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'eb925eee-7e83-4e07-937f-34aecacf3354', 'GET /v1/pets/:petId', '2xx', 4, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '404 pet_not_found', 4, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, '77e2e18e-e3c9-43de-9a14-d761917781d4', 'GET /v1/pets/:petId', '2xx', 3, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets', '2xx', 2, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 60000, 1795867200000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 api_key_banned', 2, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'eb925eee-7e83-4e07-937f-34aecacf3354', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /admin/clients', '403 insufficient_scope', 1, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /v1/pets/:petId', '2xx', 3, 1);
INSERT INTO public.request_counts VALUES ('7cecf40e-03cb-4793-8309-471c5d445b6b', 60000, 1795867200000, '10060fbb-1ab1-411b-8cc2-a1df84bd7da5', 'GET /v1/pets/:petId', '403 client_suspended uncounted', 3, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, '77e2e18e-e3c9-43de-9a14-d761917781d4', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'dd03118c-0004-4445-a9ee-b0ec1c417abb', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets', '2xx', 3, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, '5cda8f87-fed6-486d-8d02-519661082c11', 'GET /admin/clients/:clientId', '2xx', 9, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 3, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'dd03118c-0004-4445-a9ee-b0ec1c417abb', 'GET /v1/pets/:petId', '2xx', 2, 1);
INSERT INTO public.request_counts VALUES ('22f3aa9d-d1fb-474f-ab82-bfa975515c6c', 86400000, 1795824000000, 'c9c167a8-53cd-4d17-a11a-4b38c82a1b5e', 'GET /v1/pets/:petId', '429 api_key_banned', 2, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /admin/clients', '403 insufficient_scope', 1, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, '5cda8f87-fed6-486d-8d02-519661082c11', 'GET /admin/clients/:clientId', '2xx', 9, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, '77e2e18e-e3c9-43de-9a14-d761917781d4', 'GET /v1/pets/:petId', '2xx', 3, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'dd03118c-0004-4445-a9ee-b0ec1c417abb', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'dd03118c-0004-4445-a9ee-b0ec1c417abb', 'GET /v1/pets/:petId', '2xx', 2, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '404 pet_not_found', 4, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, '21a10bfd-45c5-4cf5-b5eb-e8b7a09e6a53', 'GET /v1/pets/:petId', '2xx', 3, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'eb925eee-7e83-4e07-937f-34aecacf3354', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets', '2xx', 2, 1);
INSERT INTO public.request_counts VALUES ('7cecf40e-03cb-4793-8309-471c5d445b6b', 86400000, 1795824000000, '10060fbb-1ab1-411b-8cc2-a1df84bd7da5', 'GET /v1/pets/:petId', '403 client_suspended uncounted', 3, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets', '2xx', 3, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'eb925eee-7e83-4e07-937f-34aecacf3354', 'GET /v1/pets/:petId', '2xx', 4, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, '77e2e18e-e3c9-43de-9a14-d761917781d4', 'GET /v1/pets/:petId', 'deprecated', 0, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 3, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/keys', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 7, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients', '2xx', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 9, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients', '2xx', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 7, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 8, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/clients/:clientId', '2xx', 9, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/keys', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /account/requests', '2xx uncounted', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/webhooks/:endpointId/deliveries', '2xx', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/requests', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/webhooks', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 4, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /account/webhooks', '2xx uncounted', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/audit', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/plans', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /account', '2xx uncounted', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 60000, 1795867200000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 'deprecated', 0, 6);
INSERT INTO public.request_counts VALUES ('59c3784f-97b3-491f-9532-00e30e5089ab', 60000, 1795867200000, 'd4291b87-4e67-49b0-97a1-b57f55f508cf', 'GET /v1/pets/:petId', '2xx', 4, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/webhooks/:endpointId/deliveries', '2xx', 6, 2);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/scopes', '2xx', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 60000, 1795867200000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/audit/export', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /account/webhooks', '2xx uncounted', 6, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /account', '2xx uncounted', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/webhooks/:endpointId/deliveries', '2xx', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', 'deprecated', 0, 6);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/scopes', '2xx', 5, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/webhooks', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/audit', '2xx', 7, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/plans', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/requests', '2xx', 6, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/webhooks/:endpointId/deliveries', '2xx', 6, 2);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /account/requests', '2xx uncounted', 5, 1);
INSERT INTO public.request_counts VALUES ('dc9e1e29-5276-43fe-bec1-a140ab36595d', 86400000, 1795824000000, 'ced9984a-9aed-4ef1-8f86-062f432b3d36', 'GET /v1/pets/:petId', '2xx', 4, 1);
INSERT INTO public.request_counts VALUES ('f1d65124-913f-41c5-a8c6-a0c033e96703', 86400000, 1795824000000, 'ddc944bb-e241-4b53-8057-e6c3c0362dc6', 'GET /admin/audit/export', '2xx', 7, 1);


--
-- Data for Name: schema_expansions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_expansions VALUES ('Audit1793491204000');
INSERT INTO public.schema_expansions VALUES ('ClientsAndKeys1793491200000');
INSERT INTO public.schema_expansions VALUES ('KeyLife1793491205000');
INSERT INTO public.schema_expansions VALUES ('DeprecatedCalls1793491208000');
INSERT INTO public.schema_expansions VALUES ('InstanceNotices1795500002000');
INSERT INTO public.schema_expansions VALUES ('Jobs1793491220000');
INSERT INTO public.schema_expansions VALUES ('OutboxBacklog1793491222000');
INSERT INTO public.schema_expansions VALUES ('Outbox1793491221000');
INSERT INTO public.schema_expansions VALUES ('Idempotency1793491206000');
INSERT INTO public.schema_expansions VALUES ('Pets1793491201000');
INSERT INTO public.schema_expansions VALUES ('QuotaCountDays1793491207000');
INSERT INTO public.schema_expansions VALUES ('QuotaJournal1793491202000');
INSERT INTO public.schema_expansions VALUES ('QuotaMinutes1793491203000');
INSERT INTO public.schema_expansions VALUES ('WebhookFanOuts1795500001000');
INSERT INTO public.schema_expansions VALUES ('Webhooks1793491223000');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_migrations VALUES (1, 1793491200000, 'ClientsAndKeys1793491200000');
INSERT INTO public.schema_migrations VALUES (2, 1793491201000, 'Pets1793491201000');
INSERT INTO public.schema_migrations VALUES (3, 1793491202000, 'QuotaJournal1793491202000');
INSERT INTO public.schema_migrations VALUES (4, 1793491203000, 'QuotaMinutes1793491203000');
INSERT INTO public.schema_migrations VALUES (5, 1793491204000, 'Audit1793491204000');
INSERT INTO public.schema_migrations VALUES (6, 1793491205000, 'KeyLife1793491205000');
INSERT INTO public.schema_migrations VALUES (7, 1793491206000, 'Idempotency1793491206000');
INSERT INTO public.schema_migrations VALUES (8, 1793491207000, 'QuotaCountDays1793491207000');
INSERT INTO public.schema_migrations VALUES (9, 1793491208000, 'DeprecatedCalls1793491208000');
INSERT INTO public.schema_migrations VALUES (10, 1793491220000, 'Jobs1793491220000');
INSERT INTO public.schema_migrations VALUES (11, 1793491221000, 'Outbox1793491221000');
INSERT INTO public.schema_migrations VALUES (12, 1793491222000, 'OutboxBacklog1793491222000');
INSERT INTO public.schema_migrations VALUES (13, 1793491223000, 'Webhooks1793491223000');
INSERT INTO public.schema_migrations VALUES (14, 1795500000000, 'ParsedIdempotencyKeys1795500000000');
INSERT INTO public.schema_migrations VALUES (15, 1795500001000, 'WebhookFanOuts1795500001000');
INSERT INTO public.schema_migrations VALUES (16, 1795500002000, 'InstanceNotices1795500002000');
INSERT INTO public.schema_migrations VALUES (17, 1795500003000, 'ClientRequests1795500003000');


--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_deliveries VALUES (2, '166d1419-d5a7-4b6f-a8f6-568718e77538', 'msg_886439fbd4230778d6a1d30d84190ce3', 'delivered', 1, '2026-11-28T11:00:37.719Z', 204, NULL);
INSERT INTO public.webhook_deliveries VALUES (3, '1a366f5e-46b9-47c2-9b95-d21ba974d4c9', 'msg_886439fbd4230778d6a1d30d84190ce3', 'delivered', 1, '2026-11-28T11:00:37.738Z', 204, NULL);
INSERT INTO public.webhook_deliveries VALUES (1, '04154036-5e4b-454e-acb5-3506a77971ac', 'msg_886439fbd4230778d6a1d30d84190ce3', 'failed', 1, '2026-11-28T11:00:37.738Z', 410, 'It responded 410.');
INSERT INTO public.webhook_deliveries VALUES (4, '166d1419-d5a7-4b6f-a8f6-568718e77538', 'msg_3ef61c9b0b05cf494a1a8fc3c9805485', 'delivered', 1, '2026-11-28T11:00:39.457Z', 204, NULL);
INSERT INTO public.webhook_deliveries VALUES (7, '1a366f5e-46b9-47c2-9b95-d21ba974d4c9', 'msg_b234813c090a2990a5580437eaf7b726', 'waiting', 0, NULL, NULL, NULL);
INSERT INTO public.webhook_deliveries VALUES (9, '1a366f5e-46b9-47c2-9b95-d21ba974d4c9', 'msg_4428778191fad7da131e709aeeac0c48', 'waiting', 0, NULL, NULL, NULL);
INSERT INTO public.webhook_deliveries VALUES (6, '166d1419-d5a7-4b6f-a8f6-568718e77538', 'msg_b234813c090a2990a5580437eaf7b726', 'delivered', 1, '2026-11-28T11:00:39.948Z', 204, NULL);
INSERT INTO public.webhook_deliveries VALUES (8, '166d1419-d5a7-4b6f-a8f6-568718e77538', 'msg_4428778191fad7da131e709aeeac0c48', 'delivered', 1, '2026-11-28T11:00:39.969Z', 204, NULL);
INSERT INTO public.webhook_deliveries VALUES (5, '1a366f5e-46b9-47c2-9b95-d21ba974d4c9', 'msg_3ef61c9b0b05cf494a1a8fc3c9805485', 'waiting', 3, '2026-11-28T11:57:13.805Z', NULL, 'The host refuses connections at this port.');
INSERT INTO public.webhook_deliveries VALUES (10, '166d1419-d5a7-4b6f-a8f6-568718e77538', 'msg_47aab7d7c0c0e90daec656b157418040', 'waiting', 2, '2026-11-28T11:57:21.238Z', NULL, 'The host refuses connections at this port.');


--
-- Data for Name: webhook_endpoints; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_endpoints VALUES ('04154036-5e4b-454e-acb5-3506a77971ac', '3137426c-6054-4cec-8a01-f390e91555c1', 'http://127.0.0.1:1/gone', 'gone', 'whsec_OSxNBIIWFJySJ/jXdfS89hQ1lRMQH77azgj1hGyO2fg=', '[]', '2026-11-28T11:00:37.170Z', '2026-11-28T11:00:37.738Z', 'gone', 0, NULL, 0, 0);
INSERT INTO public.webhook_endpoints VALUES ('1a366f5e-46b9-47c2-9b95-d21ba974d4c9', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'http://127.0.0.1:2/down', 'down', 'whsec_EGTcVr1PvPR+mXg5tAzoYQQEEUO+EJUEFhM93dqIbWs=', '[]', '2026-11-28T11:00:36.985Z', NULL, NULL, 3, '2026-11-28T11:00:39.463Z', 1795868993100, 1959295);
INSERT INTO public.webhook_endpoints VALUES ('166d1419-d5a7-4b6f-a8f6-568718e77538', 'dc9e1e29-5276-43fe-bec1-a140ab36595d', 'http://127.0.0.1:1/up', 'up', 'whsec_v8IDN0zydVvB6H4HTHQPyUAzMDVfjSPgpzr5uVzgUXA=', '[{"secret":"whsec_fRLoKQ96VFuQPYCz3Ydu65IYyHQeYftCsx4P4nnLwaQ=","until":"2026-11-29T11:00:37.403Z"}]', '2026-11-28T11:00:36.798Z', NULL, NULL, 2, '2026-11-28T11:57:15.199Z', 1795867367179, 325941);


--
-- Data for Name: webhook_fan_outs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_fan_outs VALUES (6, 'msg_8f53e6f2090525eb4546c5b92e351d1e', NULL);


--
-- Data for Name: webhook_messages; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_messages VALUES ('msg_886439fbd4230778d6a1d30d84190ce3', 'pets.created', '{"type":"pets.created","timestamp":"2026-11-28T11:00:37.506Z","data":{"id":7,"name":"Delivered","categoryId":1,"status":"available"}}', '2026-11-28T11:00:37.506Z');
INSERT INTO public.webhook_messages VALUES ('msg_3ef61c9b0b05cf494a1a8fc3c9805485', 'pets.created', '{"type":"pets.created","timestamp":"2026-11-28T11:00:39.109Z","data":{"id":8,"name":"Waits first","categoryId":1,"status":"available"}}', '2026-11-28T11:00:39.109Z');
INSERT INTO public.webhook_messages VALUES ('msg_b234813c090a2990a5580437eaf7b726', 'pets.created', '{"type":"pets.created","timestamp":"2026-11-28T11:00:39.292Z","data":{"id":9,"name":"Waits second","categoryId":1,"status":"available"}}', '2026-11-28T11:00:39.292Z');
INSERT INTO public.webhook_messages VALUES ('msg_4428778191fad7da131e709aeeac0c48', 'pets.created', '{"type":"pets.created","timestamp":"2026-11-28T11:00:39.592Z","data":{"id":10,"name":"Made once","categoryId":3,"status":"available"}}', '2026-11-28T11:00:39.592Z');
INSERT INTO public.webhook_messages VALUES ('msg_47aab7d7c0c0e90daec656b157418040', 'api_key.expiring', '{"type":"api_key.expiring","timestamp":"2026-11-28T11:57:14.346Z","data":{"keyId":"eb925eee-7e83-4e07-937f-34aecacf3354","prefix":"pst_live_mxEQ","label":"rotated","notice":"1d","expiresAt":"2026-11-29T11:00:39.503Z","replacedBy":"dd03118c-0004-4445-a9ee-b0ec1c417abb"}}', '2026-11-28T11:57:14.346Z');
INSERT INTO public.webhook_messages VALUES ('msg_8f53e6f2090525eb4546c5b92e351d1e', 'pets.created', '{"type":"pets.created","timestamp":"2026-11-28T12:00:21.189Z","data":{"id":13,"name":"Fans out later","categoryId":1,"status":"available"}}', '2026-11-28T12:00:21.189Z');


--
-- Data for Name: webhook_subscriptions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_subscriptions VALUES ('166d1419-d5a7-4b6f-a8f6-568718e77538', 'api_key.banned');
INSERT INTO public.webhook_subscriptions VALUES ('166d1419-d5a7-4b6f-a8f6-568718e77538', 'api_key.expiring');
INSERT INTO public.webhook_subscriptions VALUES ('166d1419-d5a7-4b6f-a8f6-568718e77538', 'pets.created');
INSERT INTO public.webhook_subscriptions VALUES ('166d1419-d5a7-4b6f-a8f6-568718e77538', 'quota.threshold');
INSERT INTO public.webhook_subscriptions VALUES ('1a366f5e-46b9-47c2-9b95-d21ba974d4c9', 'pets.created');
INSERT INTO public.webhook_subscriptions VALUES ('04154036-5e4b-454e-acb5-3506a77971ac', 'pets.created');


--
-- Name: audit_entries_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_entries_id_seq', 32, true);


--
-- Name: outbox_events_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.outbox_events_id_seq', 2, true);


--
-- Name: pets_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.pets_id_seq', 13, true);


--
-- Name: refused_requests_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.refused_requests_id_seq', 49, true);


--
-- Name: schema_migrations_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.schema_migrations_id_seq', 17, true);


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.webhook_deliveries_id_seq', 17, true);


--
-- Name: webhook_fan_outs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.webhook_fan_outs_id_seq', 6, true);


--
-- Name: quota_minutes PK_052ca90c57385aa0ec5716d1df5; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.quota_minutes
    ADD CONSTRAINT "PK_052ca90c57385aa0ec5716d1df5" PRIMARY KEY (key);


--
-- Name: webhook_endpoints PK_054c4cfb95223732f5939d2d546; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT "PK_054c4cfb95223732f5939d2d546" PRIMARY KEY (id);


--
-- Name: instance_notices PK_307a6618a611cf36d97a6e9ee0c; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.instance_notices
    ADD CONSTRAINT "PK_307a6618a611cf36d97a6e9ee0c" PRIMARY KEY (id);


--
-- Name: webhook_messages PK_526e8e1655924920adc4cd30dcd; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_messages
    ADD CONSTRAINT "PK_526e8e1655924920adc4cd30dcd" PRIMARY KEY (id);


--
-- Name: webhook_deliveries PK_535dd409947fb6d8fc6dfc0112a; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT "PK_535dd409947fb6d8fc6dfc0112a" PRIMARY KEY (id);


--
-- Name: api_keys PK_5c8a79801b44bd27b79228e1dad; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT "PK_5c8a79801b44bd27b79228e1dad" PRIMARY KEY (id);


--
-- Name: schema_migrations PK_62441bec32630ced9e4cccae336; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT "PK_62441bec32630ced9e4cccae336" PRIMARY KEY (id);


--
-- Name: outbox_events PK_6689a16c00d09b8089f6237f1d2; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.outbox_events
    ADD CONSTRAINT "PK_6689a16c00d09b8089f6237f1d2" PRIMARY KEY (id);


--
-- Name: webhook_fan_outs PK_67c4a9ccf330c4c71a5250de10b; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_fan_outs
    ADD CONSTRAINT "PK_67c4a9ccf330c4c71a5250de10b" PRIMARY KEY (id);


--
-- Name: audit_entries PK_6b1623bcad4d04530b76548d619; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT "PK_6b1623bcad4d04530b76548d619" PRIMARY KEY (id);


--
-- Name: webhook_subscriptions PK_79def7309a943811b89ff00131a; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_subscriptions
    ADD CONSTRAINT "PK_79def7309a943811b89ff00131a" PRIMARY KEY (endpoint_id, event);


--
-- Name: idempotency_entries PK_7a66aa23ff07d9f04f3ea0a5b1e; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_entries
    ADD CONSTRAINT "PK_7a66aa23ff07d9f04f3ea0a5b1e" PRIMARY KEY (client_id, key);


--
-- Name: quota_counts PK_8c26335fea457495d49b0451924; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.quota_counts
    ADD CONSTRAINT "PK_8c26335fea457495d49b0451924" PRIMARY KEY (key, window_start);


--
-- Name: leases PK_8f564523b661f9e2648c3377687; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT "PK_8f564523b661f9e2648c3377687" PRIMARY KEY (name);


--
-- Name: request_counts PK_92158f600373242f922d17b97e9; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.request_counts
    ADD CONSTRAINT "PK_92158f600373242f922d17b97e9" PRIMARY KEY (client_id, length_ms, window_start, key_id, operation, outcome, bucket);


--
-- Name: refused_requests PK_bb75bf15bbf2134f549e831eb97; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refused_requests
    ADD CONSTRAINT "PK_bb75bf15bbf2134f549e831eb97" PRIMARY KEY (id);


--
-- Name: pets PK_d01e9e7b4ada753c826720bee8b; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pets
    ADD CONSTRAINT "PK_d01e9e7b4ada753c826720bee8b" PRIMARY KEY (id);


--
-- Name: jobs PK_e480da468fa5ef0b9a8f90c438e; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT "PK_e480da468fa5ef0b9a8f90c438e" PRIMARY KEY (name);


--
-- Name: key_bans PK_e918a27ebfe84b068f82e2b83d9; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_bans
    ADD CONSTRAINT "PK_e918a27ebfe84b068f82e2b83d9" PRIMARY KEY (key_id);


--
-- Name: clients PK_f1ab7cf3a5714dbc6bb4e1c28a4; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clients
    ADD CONSTRAINT "PK_f1ab7cf3a5714dbc6bb4e1c28a4" PRIMARY KEY (id);


--
-- Name: schema_expansions schema_expansions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_expansions
    ADD CONSTRAINT schema_expansions_pkey PRIMARY KEY (name);


--
-- Name: api_keys_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_client ON public.api_keys USING btree (client_id);


--
-- Name: api_keys_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_created ON public.api_keys USING btree (created_at, id);


--
-- Name: api_keys_digest; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX api_keys_digest ON public.api_keys USING btree (digest);


--
-- Name: audit_entries_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_client ON public.audit_entries USING btree (client_id, id);


--
-- Name: audit_entries_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_key ON public.audit_entries USING btree (key_id, id);


--
-- Name: clients_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX clients_created ON public.clients USING btree (created_at, id);


--
-- Name: idempotency_entries_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_entries_created ON public.idempotency_entries USING btree (created_at);


--
-- Name: key_bans_lifted; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_bans_lifted ON public.key_bans USING btree (lifted_at);


--
-- Name: outbox_events_backlog; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX outbox_events_backlog ON public.outbox_events USING btree (listener, event, published_at, due_at) WHERE (due_at IS NOT NULL);


--
-- Name: outbox_events_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX outbox_events_key ON public.outbox_events USING btree (listener, key, due_at);


--
-- Name: outbox_events_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX outbox_events_waiting ON public.outbox_events USING btree (listener, id) WHERE (due_at IS NOT NULL);


--
-- Name: pets_status_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX pets_status_id ON public.pets USING btree (status, id);


--
-- Name: quota_counts_window; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX quota_counts_window ON public.quota_counts USING btree (window_start);


--
-- Name: refused_requests_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX refused_requests_client ON public.refused_requests USING btree (client_id, id);


--
-- Name: refused_requests_request; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX refused_requests_request ON public.refused_requests USING btree (request_id, id);


--
-- Name: request_counts_window; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX request_counts_window ON public.request_counts USING btree (length_ms, window_start);


--
-- Name: webhook_deliveries_endpoint; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_endpoint ON public.webhook_deliveries USING btree (endpoint_id, id);


--
-- Name: webhook_deliveries_message; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_message ON public.webhook_deliveries USING btree (message_id);


--
-- Name: webhook_deliveries_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (state, endpoint_id, id) WHERE ((state)::text = 'waiting'::text);


--
-- Name: webhook_endpoints_client; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_endpoints_client ON public.webhook_endpoints USING btree (client_id, created_at, id);


--
-- Name: webhook_endpoints_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_endpoints_created ON public.webhook_endpoints USING btree (created_at, id);


--
-- Name: webhook_fan_outs_message; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_fan_outs_message ON public.webhook_fan_outs USING btree (message_id);


--
-- Name: webhook_messages_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_messages_created ON public.webhook_messages USING btree (created_at);


--
-- Name: webhook_subscriptions_event; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_subscriptions_event ON public.webhook_subscriptions USING btree (event);


--
-- Name: api_keys api_keys_of_client; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_of_client FOREIGN KEY (client_id) REFERENCES public.clients(id) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_of_endpoint; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_of_endpoint FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoints(id) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_of_message; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_of_message FOREIGN KEY (message_id) REFERENCES public.webhook_messages(id) ON DELETE CASCADE;


--
-- Name: webhook_endpoints webhook_endpoints_of_client; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_of_client FOREIGN KEY (client_id) REFERENCES public.clients(id) ON DELETE CASCADE;


--
-- Name: webhook_fan_outs webhook_fan_outs_of_message; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_fan_outs
    ADD CONSTRAINT webhook_fan_outs_of_message FOREIGN KEY (message_id) REFERENCES public.webhook_messages(id) ON DELETE CASCADE;


--
-- Name: webhook_subscriptions webhook_subscriptions_of_endpoint; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_subscriptions
    ADD CONSTRAINT webhook_subscriptions_of_endpoint FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoints(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


