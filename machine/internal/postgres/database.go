package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// DatabaseConfig is what a user writes about a database.
type DatabaseConfig struct {
	Name            string              `json:"name" pattern:"^[^\\x00-\\x1f]+$" maxLength:"63" deployster:"identity"`
	Port            int                 `json:"port" default:"5432" minimum:"1" maximum:"65535" deployster:"identity"`
	Socket          string              `json:"socket" default:"/var/run/postgresql" pattern:"^/."`
	Owner           string              `json:"owner,omitempty" minLength:"1" maxLength:"63" deployster:"computed"`
	Encoding        string              `json:"encoding,omitempty" pattern:"^[A-Za-z0-9_-]+$" deployster:"computed"`
	Collate         string              `json:"collate,omitempty" minLength:"1" deployster:"computed"`
	CType           string              `json:"ctype,omitempty" minLength:"1" deployster:"computed"`
	Template        string              `json:"template,omitempty" minLength:"1" maxLength:"63"`
	ConnectionLimit *int                `json:"connection_limit,omitempty" minimum:"-1" deployster:"computed"`
	Privileges      map[string][]string `json:"privileges,omitempty"`
}

var databaseDocs = map[string]string{
	"name":     "The name of the database.",
	"port":     "The port of the cluster of databases, which names its socket.",
	"socket":   "The directory of the socket.",
	"owner":    "The role that owns it. Left out, the owner is not managed, and a new one belongs to postgres.",
	"encoding": "Its encoding, such as UTF8. Left out, a new one has that of its template. It cannot be changed later.",
	"collate":  "The order of its text, such as C.UTF-8 or de_CH.UTF-8. It cannot be changed later.",
	"ctype":    "What its characters are. Left out, collate. It cannot be changed later.",
	"template": "What a new one is a copy of. Left out, template0 if an encoding or an order is given, else template1. It is used only " +
		"when it is made.",
	"connection_limit": "How many connections it accepts at most; -1 = as many as the server.",
	"privileges": "What roles may do with it: for each role a list of CONNECT, CREATE and TEMPORARY, which is all that it has; public " +
		"stands for all roles. Roles that are not listed keep what they have.",
}

// DatabaseState is what exists.
type DatabaseState struct {
	Name            string              `json:"name" doc:"the name of the database"`
	Owner           string              `json:"owner" doc:"the role that owns it"`
	Encoding        string              `json:"encoding" doc:"its encoding"`
	Collate         string              `json:"collate" doc:"the order of its text"`
	CType           string              `json:"ctype" doc:"what its characters are"`
	ConnectionLimit int                 `json:"connection_limit" doc:"how many connections it accepts at most"`
	Privileges      map[string][]string `json:"privileges" doc:"what the roles of the config may do with it"`

	facts databaseFacts
}

// databaseFacts are what only messages show.
type databaseFacts struct {
	Size     string
	Users    []string
	Template bool
}

type databaseCall = protocol.Call[DatabaseConfig, DatabaseState]

// Database is the kind of databases.
type Database struct{ machine *access.Machine }

// NewDatabase returns the kind postgres_database.
func NewDatabase(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Database{m}, protocol.About{Label: "PostgreSQL database", Kind: "linux/postgres_database", Worker: true,
		Unknowns: true, Docs: databaseDocs, AutoEdges: []protocol.AutoEdge{{Kind: "linux/postgres_role", By: "/owner"}}})
}

func (k Database) server(c DatabaseConfig) server { return server{k.machine, c.Socket, c.Port} }

var rights = []string{"CONNECT", "CREATE", "TEMPORARY"}

func (k Database) check(c *databaseCall) error {
	for _, who := range slices.Sorted(maps.Keys(c.Config.Privileges)) {
		for _, right := range c.Config.Privileges[who] {
			if !slices.Contains(rights, right) {
				return protocol.Errorf(protocol.ConfigError, "/privileges", "%q of %s is not a privilege of a database: write %s", right,
					who,
					strings.Join(rights, ", "))
			}
		}
	}
	if slices.Contains([]string{"postgres", "template0", "template1"}, c.Config.Name) && c.Intent == protocol.Absent {
		return protocol.Errorf(protocol.ConfigError, "/name", "the server needs the database %s: it is not removed", c.Config.Name)
	}
	return nil
}

const databaseQuery = `SELECT json_build_object('name', d.datname, 'owner', r.rolname, 'encoding', pg_encoding_to_char(d.encoding),
 'collate', d.datcollate, 'ctype', d.datctype, 'connection_limit', d.datconnlimit, 'privileges',
 (SELECT coalesce(json_object_agg(w, list), '{}') FROM (SELECT coalesce(g.rolname, 'public') AS w,
  json_agg(a.privilege_type ORDER BY a.privilege_type) AS list
  FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a LEFT JOIN pg_roles g ON g.oid = a.grantee GROUP BY 1) x),
 'facts', json_build_object('size', pg_size_pretty(pg_database_size(d.oid)), 'template', d.datistemplate, 'users',
 (SELECT coalesce(json_agg(DISTINCT coalesce(s.usename, '') || ' (' || coalesce(nullif(s.application_name, ''), 'unnamed') || ')'), '[]')
  FROM pg_stat_activity s WHERE s.datid = d.oid)))
 FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba WHERE `

// Read returns the database, or nil.
func (k Database) Read(ctx context.Context, c *databaseCall) (*DatabaseState, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	var row struct {
		DatabaseState
		Facts databaseFacts
	}
	there, err := k.server(c.Config).query(ctx, databaseQuery+"d.datname = "+text(c.Config.Name)+";\n", &row)
	if errors.Is(err, errNone) || err == nil && !there {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := row.DatabaseState
	s.facts = row.Facts
	all := s.Privileges
	s.Privileges = map[string][]string{}
	for who := range c.Config.Privileges {
		s.Privileges[who] = sorted(all[who])
	}
	return &s, nil
}

func sorted(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return slices.Compact(list)
}

// fixed are what a database has for its life.
func fixed(c DatabaseConfig, s *DatabaseState) map[string][2]string {
	all := map[string][2]string{"/encoding": {c.Encoding, s.Encoding}, "/collate": {c.Collate, s.Collate}, "/ctype": {c.ctype(), s.CType}}
	for path, pair := range all {
		if pair[0] == "" || normal(pair[0]) == normal(pair[1]) {
			delete(all, path)
		}
	}
	return all
}

func (c DatabaseConfig) ctype() string {
	if c.CType == "" {
		return c.Collate
	}
	return c.CType
}

// normal is the name of an encoding or a locale as both the server and libc accept it: UTF8 and utf-8 are one.
func normal(text string) string { return strings.ReplaceAll(strings.ToLower(text), "-", "") }

// Plan compares what can be changed, and refuses what cannot.
func (k Database) Plan(ctx context.Context, c *databaseCall, have *DatabaseState) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}, Unknown: []string{"/privileges"}}
	forecast := map[string]any{"name": c.Config.Name}
	plan.Forecast = forecast
	because := func(path string, had, want any) {
		r := protocol.Reason{Path: path}
		r.Have, _ = json.Marshal(had)
		r.Want, _ = json.Marshal(want)
		plan.Reasons, forecast[strings.Split(path, "/")[1]] = append(plan.Reasons, r), want
	}
	if have == nil {
		plan.Actions[0] = protocol.Action{Name: "create"}
		plan.Unknown = append(plan.Unknown, "/owner", "/encoding", "/collate", "/ctype", "/connection_limit")
		if c.Config.Owner != "" && !c.IsUnknown("/owner") {
			forecast["owner"] = c.Config.Owner
		}
		if _, err := k.server(c.Config).run(ctx, superuser, ""); errors.Is(err, errNone) {
			plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/name", Message: errNone.Error()})
		}
		return plan, nil
	}
	for _, path := range []string{"/encoding", "/collate", "/ctype"} {
		if pair, differs := fixed(c.Config, have)[path]; differs && !c.IsUnknown(path) && !(path == "/ctype" && c.IsUnknown("/collate")) {
			return nil, protocol.Errorf(protocol.ConfigError, path,
				"the database %s has %s, which cannot become %s: dump it, and restore it in "+
					"another database", c.Config.Name, pair[1], pair[0])
		}
	}
	if c.Config.Owner != "" && c.Config.Owner != have.Owner && !c.IsUnknown("/owner") {
		because("/owner", have.Owner, c.Config.Owner)
	}
	if limit := c.Config.ConnectionLimit; limit != nil && *limit != have.ConnectionLimit && !c.IsUnknown("/connection_limit") {
		because("/connection_limit", have.ConnectionLimit, *limit)
	}
	for _, who := range slices.Sorted(maps.Keys(c.Config.Privileges)) {
		if want := sorted(c.Config.Privileges[who]); !slices.Equal(want, have.Privileges[who]) {
			r := protocol.Reason{Path: "/privileges/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(who)}
			r.Have, _ = json.Marshal(have.Privileges[who])
			r.Want, _ = json.Marshal(want)
			plan.Reasons = append(plan.Reasons, r)
		}
	}
	for _, path := range c.Unknown {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: "known only after other actions"})
		plan.Unknown = append(plan.Unknown, "/owner", "/connection_limit")
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write makes the database, and what can be changed of it.
func (k Database) Write(ctx context.Context, c *databaseCall) error {
	s := k.server(c.Config)
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	if have == nil {
		if _, err := s.run(ctx, superuser, c.Config.create()); err != nil {
			return err
		}
		if have, err = k.Read(ctx, c); err != nil {
			return err
		}
		if have == nil {
			return errNone
		}
	}
	for path, pair := range fixed(c.Config, have) {
		return fmt.Errorf("%s: the database %s has %s, which cannot become %s", path, c.Config.Name, pair[1], pair[0])
	}
	var b strings.Builder
	if c.Config.Owner != "" && c.Config.Owner != have.Owner {
		fmt.Fprintf(&b, "ALTER DATABASE %s OWNER TO %s;\n", name(c.Config.Name), name(c.Config.Owner))
	}
	if limit := c.Config.ConnectionLimit; limit != nil && *limit != have.ConnectionLimit {
		fmt.Fprintf(&b, "ALTER DATABASE %s CONNECTION LIMIT %d;\n", name(c.Config.Name), *limit)
	}
	if b.Len() > 0 {
		if _, err := s.run(ctx, superuser, "BEGIN;\n"+b.String()+"COMMIT;\n"); err != nil {
			return err
		}
		if have, err = k.Read(ctx, c); err != nil { // another owner has other privileges
			return err
		}
		b.Reset()
	}
	for _, who := range slices.Sorted(maps.Keys(c.Config.Privileges)) {
		want := sorted(c.Config.Privileges[who])
		for _, right := range rights {
			switch has := slices.Contains(have.Privileges[who], right); {
			case slices.Contains(want, right) && !has:
				fmt.Fprintf(&b, "GRANT %s ON DATABASE %s TO %s;\n", right, name(c.Config.Name), role(who))
			case has && !slices.Contains(want, right):
				fmt.Fprintf(&b, "REVOKE %s ON DATABASE %s FROM %s;\n", right, name(c.Config.Name), role(who))
			}
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err = s.run(ctx, superuser, "BEGIN;\n"+b.String()+"COMMIT;\n")
	return err
}

func (c DatabaseConfig) create() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE DATABASE %s", name(c.Name))
	template := c.Template
	if template == "" && c.Encoding+c.Collate+c.CType != "" {
		template = "template0"
	}
	if c.Owner != "" {
		fmt.Fprintf(&b, " OWNER %s", name(c.Owner))
	}
	if template != "" {
		fmt.Fprintf(&b, " TEMPLATE %s", name(template))
	}
	for _, one := range [][2]string{{"ENCODING", c.Encoding}, {"LC_COLLATE", c.Collate}, {"LC_CTYPE", c.ctype()}} {
		if one[1] != "" {
			fmt.Fprintf(&b, " %s %s", one[0], text(one[1]))
		}
	}
	return b.String() + ";\n"
}

// PlanAbsence reports what is lost.
func (k Database) PlanAbsence(_ context.Context, _ *databaseCall, have *DatabaseState) (*protocol.Plan, error) {
	one := protocol.Action{Name: "delete", Destructive: true, Description: "Remove the database with all that it holds, " + have.facts.Size}
	if len(have.facts.Users) > 0 {
		one.Description += "; it is used by " + strings.Join(have.facts.Users, ", ")
	}
	return &protocol.Plan{Actions: []protocol.Action{one}}, nil
}

// Delete removes the database. Connections are not ended for that.
func (k Database) Delete(ctx context.Context, c *databaseCall) error {
	have, err := k.Read(ctx, c)
	if have == nil || err != nil {
		return err
	}
	if len(have.facts.Users) > 0 {
		return fmt.Errorf("the database %s is used by %s, and is not removed: end these connections first", c.Config.Name,
			strings.Join(have.facts.Users, ", "))
	}
	_, err = k.server(c.Config).run(ctx, superuser, "DROP DATABASE IF EXISTS "+name(c.Config.Name)+";\n")
	return err
}

// Discover lists the databases of a server but its own.
func (k Database) Discover(ctx context.Context, c *databaseCall, tell func(DatabaseConfig, string) error) error {
	if c.Config.Port == 0 {
		c.Config.Port, c.Config.Socket = 5432, "/var/run/postgresql"
	}
	var list []DatabaseState
	_, err := k.server(c.Config).query(ctx, "SELECT json_agg(x.o) FROM ("+strings.Replace(databaseQuery, "'facts'", "'f'", 1)+
		"NOT d.datistemplate AND d.datname <> 'postgres' ORDER BY d.datname) x(o);\n", &list)
	if errors.Is(err, errNone) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range list {
		found := DatabaseConfig{Name: s.Name, Port: c.Config.Port, Socket: c.Config.Socket, Owner: s.Owner, Encoding: s.Encoding,
			Collate: s.Collate, CType: s.CType, ConnectionLimit: &s.ConnectionLimit}
		if err := tell(found, s.Name); err != nil {
			return err
		}
	}
	return nil
}
