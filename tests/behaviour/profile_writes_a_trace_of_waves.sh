. "$(dirname "$0")/common.sh"
expect_exit 0 asmevo profile "$corpus/rmsnorm.hsaco" --launch "$corpus/rmsnorm.json" --trace waves.json
expect_json waves.json
events="json_each(CAST(readfile('waves.json') AS TEXT), '\$.traceEvents')"
count() { sqlite3 :memory: "SELECT count(*) FROM $events WHERE $1"; }
[ "$(count "value->>'ph' NOT IN ('X', 'M')")" = 0 ] || fail "other events than X and M"
[ "$(count "value->>'ph' = 'X' AND (value->>'dur' <= 0 OR value->>'pid' IS NULL OR value->>'tid' IS NULL)")" = 0 ] || fail "incomplete events"
[ "$(count "value->>'name' LIKE 'workgroup % wave %'")" -ge 4 ] || fail "no waves"
[ "$(count "value->>'name' LIKE 'vmcnt: s_waitcnt vmcnt%'")" -ge 4 ] || fail "no waits"
# No two slices of a track overlap, waves aside.
[ "$(sqlite3 :memory: "WITH s AS (SELECT value->>'tid' tid, round(1000 * (value->>'ts')) t, round(1000 * (value->>'dur')) d FROM $events
  WHERE value->>'ph' = 'X' AND value->>'cat' != 'wave'), o AS (SELECT t + d > lead(t) OVER (PARTITION BY tid ORDER BY t) bad FROM s) SELECT count(*) FROM o WHERE bad")" = 0 ] ||
  fail "slices of a track overlap"
