. "$(dirname "$0")/common.sh"
need sqlite3
"$ASMEVO_SOURCE/scripts/kill-test.sh" "$ASMEVO" 3 random rowsum >out 2>err || fail 'see above'
expect_text 'lines of lineage and the object as without'
