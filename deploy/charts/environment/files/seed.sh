# Makes the database of an environment with its seed, or as a copy, in a folder that is moved into place when everything is
# loaded and on the disk: whenever it ends before, there is no database, and the next run begins anew.
# It needs psql or pg_restore beside PostgreSQL's other programs, and gzip for a file that ends in .gz; for a copy pg_dump, grep and sed.
# Variables: PGDATA (the folder to make it in), PGHOST (a folder for the socket and small files), DATABASE_FOLDER (its place),
# DATABASE_USER, DATABASE_NAME, SEED_FORMAT, SEED_ID; for a seed SEED_FILE; for a copy COPY_HOST and DATABASE_PASSWORD, the
# password there. First argument: the script that makes an empty database; further ones: statements that mask a copy.
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

if [ "$SEED_FORMAT" != copy ] && [ ! -r "$SEED_FILE" ]; then
  echo "the image of the seed has no readable file ${SEED_FILE#/seed}" >&2
  exit "$FINAL"
fi

rm -rf "$PGDATA"
source_password=${DATABASE_PASSWORD-}
unset DATABASE_PASSWORD
sh -c "$1" > /dev/null
shift

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

restored() {
  pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="$DATABASE_NAME" "$@"
}

# Straight from one server into the other, not by psql: data of others is no commands for it.
copied() {
  status=0
  PGPASSWORD="$source_password" pg_dump --no-password --format=custom --compress=0 --no-owner --no-privileges --lock-wait-timeout=60s \
    --dbname="host=$COPY_HOST connect_timeout=10 keepalives_idle=10 keepalives_interval=10 keepalives_count=3" || status=$?
  # 141: the restore has ended before, and says why.
  [ "$status" -eq 0 ] || [ "$status" -eq 141 ] || : > "$PGHOST/lost"
}

# Further lines of an error, and those about rows, would show what is not masked yet.
copy_once() {
  rm -f "$PGHOST/lost"
  if copied | restored 2> "$PGHOST/errors"; then
    [ ! -e "$PGHOST/lost" ]
    return
  fi
  # A dump that breaks off is an error of the restore, too; any other is its own.
  if [ -e "$PGHOST/lost" ] && grep -q -e 'input file' -e 'end of file' "$PGHOST/errors"; then return 1; fi
  rm -f "$PGHOST/lost"
  sed -n -e 's/^\(pg_restore: error: COPY failed for table [^:]*\): .*/\1/' -e '/^pg_restore: /p' "$PGHOST/errors" >&2
  return 1
}

# A source that is away is tried again, for about a minute; a restore that fails leaves nothing.
copy() {
  for pause in 1 2 5 10 20 20; do
    ! copy_once || return 0
    [ -e "$PGHOST/lost" ] || return 1
    sleep "$pause"
  done
  return 1
}

# Errors of statements would show rows, too: their code and the statement are enough.
mask() {
  [ "$#" -gt 0 ] || return 0
  echo "masking"
  for statement in "$@"; do
    shift
    set -- "$@" "--command=$statement"
  done
  psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=VERBOSITY=sqlstate --echo-errors --single-transaction "$@" > /dev/null
}

load() {
  case $SEED_FORMAT:${SEED_FILE-} in
    sql:*.gz)
      unpacked | statements - && [ ! -e "$PGHOST/broken" ]
      ;;
    sql:*) statements "$SEED_FILE" ;;
    dump:*) restored "$SEED_FILE" ;;
    copy:*) copy ;;
  esac
}

export PGUSER="$DATABASE_USER" PGDATABASE="$DATABASE_NAME"
from=${SEED_FILE-$COPY_HOST}
echo "loading ${from#/seed}"
if ! load || ! mask "$@"; then
  # Where a server is gone, memory or a disk may have been at an end, or the network: another run may succeed.
  [ ! -e "$PGHOST/lost" ] || exit 1
  pg_ctl stop --silent --mode=immediate --pgdata="$PGDATA" 2> /dev/null || exit 1
  exit "$FINAL"
fi

pg_ctl stop --silent --wait --timeout=300 --mode=fast --pgdata="$PGDATA"
echo "$SEED_ID" > "$PGDATA/seed"
initdb --sync-only --pgdata="$PGDATA" > /dev/null
mv "$PGDATA" "$DATABASE_FOLDER"
echo "loaded"
