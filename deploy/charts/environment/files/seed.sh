# Makes the database of an environment with its seed, in a folder that is moved into place when everything is loaded and
# on the disk: whenever it ends before, there is no database, and the next run begins anew.
# It needs psql or pg_restore beside PostgreSQL's other programs, and gzip for a file that ends in .gz.
# Variables: PGDATA (the folder to make it in), PGHOST (a folder for the socket and small files), DATABASE_FOLDER (its place),
# DATABASE_USER, DATABASE_NAME, SEED_FILE, SEED_FORMAT, SEED_ID. First argument: the script that makes an empty database.
set -eu
umask 077

# Exit status of a failure that another run would repeat.
FINAL=64

if [ -e "$DATABASE_FOLDER" ]; then
  made=none
  [ ! -e "$DATABASE_FOLDER/seed" ] || read -r made < "$DATABASE_FOLDER/seed"
  if [ "$made" != "$SEED_ID" ]; then
    echo "there is a database with other data: a seed is loaded only into a new one" >&2
    exit "$FINAL"
  fi
  echo "the seed was loaded before"
  exit 0
fi

if [ ! -r "$SEED_FILE" ]; then
  echo "the image of the seed has no readable file ${SEED_FILE#/seed}" >&2
  exit "$FINAL"
fi

rm -rf "$PGDATA"
sh -c "$1" > /dev/null

# The owner of the database alone can connect, by a socket in this pod. A crash costs the whole folder, so that nothing has to be on
# the disk before the end. Little is logged twice: the client prints errors.
printf 'local "%s" "%s" trust\n' "$DATABASE_NAME" "$DATABASE_USER" > "$PGHOST/pg_hba.conf"
pg_ctl start --silent --wait --timeout=120 --pgdata="$PGDATA" --options="-c hba_file=$PGHOST/pg_hba.conf -c listen_addresses= \
  -c unix_socket_directories=$PGHOST -c fsync=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 \
  -c max_wal_size=256MB -c autovacuum=off -c log_min_messages=panic"

# The exit status of the pipe is that of its last part, which takes a broken archive for the end of the statements.
unpacked() {
  gzip -dc "$SEED_FILE" || : > "$PGHOST/broken"
}

statements() {
  psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --single-transaction --file="$1" > /dev/null
}

load() {
  case $SEED_FORMAT:$SEED_FILE in
    sql:*.gz)
      unpacked | statements - && [ ! -e "$PGHOST/broken" ]
      ;;
    sql:*) statements "$SEED_FILE" ;;
    dump:*)
      pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="$DATABASE_NAME" "$SEED_FILE"
      ;;
  esac
}

export PGUSER="$DATABASE_USER" PGDATABASE="$DATABASE_NAME"
echo "loading ${SEED_FILE#/seed}"
if ! load; then
  # Where the server is gone, memory or the disk may have been at an end: another run may succeed.
  pg_ctl stop --silent --mode=immediate --pgdata="$PGDATA" 2> /dev/null || exit 1
  exit "$FINAL"
fi

pg_ctl stop --silent --wait --timeout=300 --mode=fast --pgdata="$PGDATA"
echo "$SEED_ID" > "$PGDATA/seed"
initdb --sync-only --pgdata="$PGDATA" > /dev/null
mv "$PGDATA" "$DATABASE_FOLDER"
echo "loaded"
