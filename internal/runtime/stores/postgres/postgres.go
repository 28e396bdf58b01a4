package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deployster/internal/base/diag"
	"deployster/internal/base/sharedlog"
)

// table is the SQL statement that creates the table.
const table = `create table if not exists deployster_log (name text, key text, data bytea not null, primary key (name, key))`

// Store holds the objects of one name in the table.
type Store struct {
	config *pgx.ConnConfig
	name   string

	places chan struct{} // has an element for each connection in use; its capacity is their limit
	mu     sync.Mutex
	idle   []*pgx.Conn
	closed bool
}

// New returns the store that a connection string names, without connecting to it. name
// identifies one state among those in a database.
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

// Create inserts a row. The row is on the database's disk when the statement returns,
// whatever the usual synchronous_commit of the database.
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
		return fmt.Errorf("%w. Have an administrator run: %s; grant select, insert, delete on deployster_log to %s", err, table,
			pgx.Identifier{s.config.User}.Sanitize())
	}
	switch code(err) {
	case "23505", "42P07", "42710": // another client has just created the table, its type, or one of their names
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

// do runs one call with a connection. It does not use a connection again that has failed.
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
		_ = c.Close(context.WithoutCancel(ctx)) // it cannot be used again
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

// keep keeps a connection for the next call; false = the caller must close it.
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

// code returns the code of an error from the database; "" = another error.
func code(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}

func noTable(err error) bool { return code(err) == "42P01" }

// refused wraps an error in ErrDenied if trying again does not help: wrong credentials,
// no such database, missing rights, a certificate that nothing here vouches for.
func refused(err error) error {
	if diag.Is[*tls.CertificateVerificationError](err) {
		return fmt.Errorf("%w: %w. sslrootcert names the certificate of the authority that has signed the server's",
			sharedlog.ErrDenied, err)
	}
	c := code(err)
	for _, class := range []string{"28", "3D", "3F", "42501", "42704"} {
		if strings.HasPrefix(c, class) {
			return fmt.Errorf("%w: %w", sharedlog.ErrDenied, err)
		}
	}
	return err
}
