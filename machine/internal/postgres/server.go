package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"deployster/machine/internal/access"
)

// superuser is who the server knows by its local socket.
const superuser = "postgres"

// server is a cluster of databases that runs on the machine.
type server struct {
	machine *access.Machine
	socket  string
	port    int
}

// errNone is the error of a machine that has no PostgreSQL yet.
var errNone = errors.New("there is no PostgreSQL on this machine yet")

// before is what each script begins with: names are found in the catalog alone, whatever a role has as its default, a
// backslash is a character, and no log has the passwords of a script.
const before = `\set ON_ERROR_STOP on
SET search_path = pg_catalog;
SET standard_conforming_strings = on;
SET client_min_messages = warning;
SET lock_timeout = '30s';
SET log_statement = 'none';
SET log_min_duration_statement = -1;
SET log_min_error_statement = 'panic';
`

// noisy is what psql prints before a message.
var noisy = regexp.MustCompile(`psql:<stdin>:[0-9]+: `)

// run runs a script in a database, and returns what it prints.
func (s server) run(ctx context.Context, database, script string) ([]byte, error) {
	if _, ok := s.machine.UserID(ctx, superuser); !ok {
		return nil, errNone
	}
	var out, log bytes.Buffer
	err := s.machine.Run(ctx, access.Command{Args: []string{"psql", "-X", "-A", "-t", "-q", "-h", s.socket, "-p",
		strconv.Itoa(s.port), "-U", superuser, "-d", database, "-f", "-"}, Env: []string{"PGAPPNAME=deployster", "PGCLIENTENCODING=UTF8",
		"PGCONNECT_TIMEOUT=20"}, User: superuser,
		Stdin: strings.NewReader(before + script), Stdout: &out, Stderr: &log})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errNone
	case err != nil:
		text := noisy.ReplaceAllString(strings.TrimSpace(log.String()), "")
		if text == "" {
			return nil, err
		}
		return nil, errors.New(text)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// query runs a query that returns JSON, or no row; there is false then.
func (s server) query(ctx context.Context, query string, into any) (there bool, err error) {
	out, err := s.run(ctx, superuser, query)
	if err != nil || len(out) == 0 {
		return false, err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return false, fmt.Errorf("what psql prints cannot be read: %w", err)
	}
	return true, nil
}

// name is an identifier in a script.
func name(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// role is the name of a role in a script; public stands for all.
func role(text string) string {
	if text == public {
		return "PUBLIC"
	}
	return name(text)
}

const public = "public"

// text is a string in a script.
func text(value string) string { return `'` + strings.ReplaceAll(value, `'`, `''`) + `'` }
