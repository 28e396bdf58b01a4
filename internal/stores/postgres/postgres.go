package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deployster/internal/base/diag"
	"deployster/internal/sharedlog"
)

// table is the SQL that makes the table.
const table = `create table if not exists deployster_log (name text, key text, data bytea not null, primary key (name, key))`

// Store is the objects of one name in the table.
type Store struct {
	config *pgx.ConnConfig
	name   string

	places chan struct{} // so many connections at most
	mu     sync.Mutex
	idle   []*pgx.Conn
	closed bool
}

// New returns the store that a connection string names, without connecting to it.
// Name tells one state of a database from another.
func New(connection, name string) (*Store, error) {
	config, err := pgx.ParseConfig(connection)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "deployster"
	}
	const connections = 4
	return &Store{config: config, name: name, places: make(chan struct{}, connections)}, nil
}

// Create inserts a row. What the database holds is on its disk when the statement
// returns, whatever its usual setting.
func (s *Store) Create(ctx context.Context, key string, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	const insert = `with durable as (select set_config('synchronous_commit', 'on', true))
		insert into deployster_log (name, key, data) select $1, $2, $3 from durable on conflict do nothing`
	made := false
	for {
		var rows int64
		err := s.do(ctx, func(c *pgx.Conn) error {
			tag, err := c.Exec(ctx, insert, s.name, key, data)
			rows = tag.RowsAffected()
			return err
		})
		switch {
		case noTable(err) && !made:
			if err := s.makeTable(ctx); err != nil {
				return err
			}
			made = true
		case err != nil:
			return err
		case rows == 0:
			return sharedlog.ErrExists
		default:
			return nil
		}
	}
}

func (s *Store) makeTable(ctx context.Context) error {
	err := s.do(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, table)
		return err
	})
	if err != nil && errors.Is(err, sharedlog.ErrDenied) {
		return fmt.Errorf("%w. Have somebody who may run: %s; grant select, insert, delete on deployster_log to %s", err, table,
			pgx.Identifier{s.config.User}.Sanitize())
	}
	switch code(err) {
	case "23505", "42P07", "42710": // another has just made the table, its type, or one of their names
		return nil
	}
	return err
}

// Get selects a row.
func (s *Store) Get(ctx context.Context, key string) (data []byte, err error) {
	err = s.do(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `select data from deployster_log where name = $1 and key = $2`, s.name, key).Scan(&data)
	})
	if errors.Is(err, pgx.ErrNoRows) || noTable(err) {
		return nil, fs.ErrNotExist
	}
	return data, err
}

// List selects the keys of rows.
func (s *Store) List(ctx context.Context, prefix string) (keys []string, err error) {
	err = s.do(ctx, func(c *pgx.Conn) error {
		const list = `select key from deployster_log where name = $1 and starts_with(key, $2) order by key collate "C"`
		rows, err := c.Query(ctx, list, s.name, prefix)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if noTable(err) {
		return nil, nil
	}
	return keys, err
}

// Delete deletes a row.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.do(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, `delete from deployster_log where name = $1 and key = $2`, s.name, key)
		return err
	})
	if noTable(err) {
		return nil
	}
	return err
}

// do has a connection for one call. One that has failed is not used again.
func (s *Store) do(ctx context.Context, call func(*pgx.Conn) error) error {
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.places }()
	c, err := s.connection(ctx)
	if err != nil {
		return refused(err)
	}
	err = call(c)
	if err != nil && !diag.Is[*pgconn.PgError](err) && !errors.Is(err, pgx.ErrNoRows) || !s.keep(c) {
		_ = c.Close(context.WithoutCancel(ctx)) // it is of no use any more
	}
	return refused(err)
}

func (s *Store) connection(ctx context.Context) (*pgx.Conn, error) {
	s.mu.Lock()
	for len(s.idle) > 0 {
		c := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if !c.IsClosed() {
			s.mu.Unlock()
			return c, nil
		}
	}
	s.mu.Unlock()
	return pgx.ConnectConfig(ctx, s.config)
}

// keep puts a connection by for the next call; false = it is to be closed.
func (s *Store) keep(c *pgx.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || c.IsClosed() {
		return false
	}
	s.idle = append(s.idle, c)
	return true
}

// Close closes the connections.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var err error
	for _, c := range s.idle {
		err = errors.Join(err, c.Close(context.Background()))
	}
	s.idle = nil
	return err
}

// code is the code of an error that the database gave; "" = it gave none.
func code(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}

func noTable(err error) bool { return code(err) == "42P01" }

// refused says of an error whether trying again is of no use: wrong credentials, no
// such database, missing rights.
func refused(err error) error {
	c := code(err)
	for _, class := range []string{"28", "3D", "3F", "42501", "42704"} {
		if strings.HasPrefix(c, class) {
			return fmt.Errorf("%w: %w", sharedlog.ErrDenied, err)
		}
	}
	return err
}
