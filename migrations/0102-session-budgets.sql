-- Budgets of sessions: what an agent uses, model and tools, is paid from a second hold beside the price.
alter table agents
  add column credits_per_1k_tokens bigint not null default 0,
  add column credits_per_tool_call bigint not null default 0;

-- budget: what was held for use in all; 0: a session without a budget. budget_holds: who paid how much of it, in the
-- order in which it is captured. used: the price of the tokens and calls beside it. used_steps numbers the steps, so
-- that one whose commit was not answered is not recorded again.
--
-- paused_at: when the budget was used up. The status stays "running", and lease_until is "infinity" once the agent has
-- told the room: so a process of the previous release does not continue the session, but stops or ends it as any other.
alter table sessions
  add column budget bigint not null default 0,
  add column budget_holds json,
  add column used bigint not null default 0,
  add column used_tokens bigint not null default 0,
  add column used_tool_calls bigint not null default 0,
  add column used_steps bigint not null default 0,
  add column paused_at timestamptz(3);

alter table sessions drop constraint sessions_charged_fits, add constraint sessions_charged_fits
  check (charged >= 0 and charged <= price + budget) not valid;

-- For the receipt: what a session with a budget used until this end of a hold.
alter table ledger_hold_ends
  add column budget bigint,
  add column used bigint,
  add column used_tokens bigint,
  add column used_tool_calls bigint;
