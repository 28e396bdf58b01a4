package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// RoleConfig is what a user writes about a role.
type RoleConfig struct {
	Name            string   `json:"name" pattern:"^[^\\x00-\\x1f]+$" maxLength:"63" deployster:"identity"`
	Port            int      `json:"port" default:"5432" minimum:"1" maximum:"65535" deployster:"identity"`
	Socket          string   `json:"socket" default:"/var/run/postgresql" pattern:"^/."`
	Login           *bool    `json:"login,omitempty" deployster:"computed"`
	Superuser       *bool    `json:"superuser,omitempty" deployster:"computed"`
	CreateDatabases *bool    `json:"create_databases,omitempty" deployster:"computed"`
	CreateRoles     *bool    `json:"create_roles,omitempty" deployster:"computed"`
	Replication     *bool    `json:"replication,omitempty" deployster:"computed"`
	Inherit         *bool    `json:"inherit,omitempty" deployster:"computed"`
	ConnectionLimit *int     `json:"connection_limit,omitempty" minimum:"-1" deployster:"computed"`
	MemberOf        []string `json:"member_of,omitempty"`
	Membership      string   `json:"membership,omitempty" enum:"minimum,inclusive" default:"minimum"`
	Password        string   `json:"password,omitempty" minLength:"1" writeOnly:"true"`
}

var roleDocs = map[string]string{
	"name":             "The name of the role.",
	"port":             "The port of the cluster of databases, which names its socket.",
	"socket":           "The directory of the socket.",
	"login":            "Whether it may log in. Left out, that is not managed, and a new role may not.",
	"superuser":        "Whether it may do everything.",
	"create_databases": "Whether it may make databases.",
	"create_roles":     "Whether it may make roles.",
	"replication":      "Whether it may copy the whole cluster.",
	"inherit":          "Whether it has what the roles have that it is a member of, without SET ROLE.",
	"connection_limit": "How many connections it may have at most; -1 = as many as the server accepts.",
	"member_of":        "Roles that it is a member of.",
	"membership":       "minimum: other roles that it is a member of stay. inclusive: it leaves them.",
	"password": "Its password. The server is given only its SCRAM verifier, and it is compared with the one that the server has. " +
		"Left out, the password is not managed.",
}

// RoleState is what exists.
type RoleState struct {
	Name            string   `json:"name" doc:"the name of the role"`
	Login           bool     `json:"login" doc:"whether it may log in"`
	Superuser       bool     `json:"superuser" doc:"whether it may do everything"`
	CreateDatabases bool     `json:"create_databases" doc:"whether it may make databases"`
	CreateRoles     bool     `json:"create_roles" doc:"whether it may make roles"`
	Replication     bool     `json:"replication" doc:"whether it may copy the whole cluster"`
	Inherit         bool     `json:"inherit" doc:"whether it has what the roles have that it is a member of"`
	ConnectionLimit int      `json:"connection_limit" doc:"how many connections it may have at most"`
	MemberOf        []string `json:"member_of" doc:"the roles that it is a member of"`

	stored string // what the server has in place of the password
	owns   []string
}

type roleCall = protocol.Call[RoleConfig, RoleState]

// Role is the kind of roles.
type Role struct{ machine *access.Machine }

// NewRole returns the kind postgres_role.
func NewRole(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Role{m}, protocol.About{Label: "PostgreSQL role", Kind: "linux/postgres_role", Worker: true, Unknowns: true,
		Docs: roleDocs, AutoEdges: []protocol.AutoEdge{{Kind: "linux/postgres_role", By: "/member_of"}}})
}

func (k Role) server(c RoleConfig) server { return server{k.machine, c.Socket, c.Port} }

// flags are what a role may do, with their words in SQL.
func flags(c RoleConfig, s *RoleState) []flag {
	return []flag{{"login", "LOGIN", c.Login, s.Login}, {"superuser", "SUPERUSER", c.Superuser, s.Superuser},
		{"create_databases", "CREATEDB", c.CreateDatabases, s.CreateDatabases},
		{"create_roles", "CREATEROLE", c.CreateRoles, s.CreateRoles},
		{"replication", "REPLICATION", c.Replication, s.Replication}, {"inherit", "INHERIT", c.Inherit, s.Inherit}}
}

type flag struct {
	key, word string
	want      *bool
	have      bool
}

func (k Role) check(c *roleCall) error {
	if strings.HasPrefix(c.Config.Name, "pg_") {
		return protocol.Errorf(protocol.ConfigError, "/name", "names that begin with pg_ are the server's own")
	}
	if c.Config.Name == superuser && c.Intent == protocol.Absent {
		return protocol.Errorf(protocol.ConfigError, "/name", "the server needs the role postgres: it is not removed")
	}
	if c.Config.Name == public {
		return protocol.Errorf(protocol.ConfigError, "/name", "public stands for all roles: choose another name")
	}
	return nil
}

const roleQuery = `SELECT json_build_object('name', r.rolname, 'login', r.rolcanlogin, 'superuser', r.rolsuper,
 'create_databases', r.rolcreatedb,
 'create_roles', r.rolcreaterole, 'replication', r.rolreplication, 'inherit', r.rolinherit, 'connection_limit', r.rolconnlimit, 'member_of',
 (SELECT coalesce(json_agg(DISTINCT g.rolname::text), '[]') FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
  WHERE m.member = r.oid),
 'stored', r.rolpassword, 'owns', (SELECT coalesce(json_agg(d.datname ORDER BY d.datname), '[]') FROM pg_database d WHERE d.datdba = r.oid))
 FROM pg_authid r WHERE `

// Read returns the role, or nil.
func (k Role) Read(ctx context.Context, c *roleCall) (*RoleState, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	var row struct {
		RoleState
		Stored string
		Owns   []string
	}
	there, err := k.server(c.Config).query(ctx, roleQuery+"r.rolname = "+text(c.Config.Name)+";\n", &row)
	if errors.Is(err, errNone) || err == nil && !there {
		return nil, nil
	}
	s := row.RoleState
	s.stored, s.owns = row.Stored, row.Owns
	slices.Sort(s.MemberOf)
	return &s, err
}

// members returns the roles that the role is to be a member of.
func members(c *roleCall, have []string) []string {
	if c.Config.Membership == "inclusive" {
		return sorted(c.Config.MemberOf)
	}
	return sorted(append(slices.Clone(c.Config.MemberOf), have...))
}

// Plan compares all that the config has. A password is compared by what the server has of it.
func (k Role) Plan(ctx context.Context, c *roleCall, have *RoleState) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
	forecast := map[string]any{"name": c.Config.Name}
	plan.Forecast = forecast
	had := have
	if have == nil {
		plan.Actions[0] = protocol.Action{Name: "create"}
		had = &RoleState{}
		plan.Unknown = []string{"/login", "/superuser", "/create_databases", "/create_roles", "/replication", "/inherit",
			"/connection_limit"}
		if _, err := k.server(c.Config).run(ctx, superuser, ""); errors.Is(err, errNone) {
			plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/name", Message: errNone.Error()})
		}
	}
	because := func(key string, was, want any) {
		forecast[key] = want
		if have == nil {
			return
		}
		r := protocol.Reason{Path: "/" + key}
		r.Have, _ = json.Marshal(was)
		r.Want, _ = json.Marshal(want)
		plan.Reasons = append(plan.Reasons, r)
	}
	for _, f := range flags(c.Config, had) {
		if f.want != nil && (*f.want != f.have || have == nil) && !c.IsUnknown("/"+f.key) {
			because(f.key, f.have, *f.want)
		}
	}
	if limit := c.Config.ConnectionLimit; limit != nil && (*limit != had.ConnectionLimit || have == nil) &&
		!c.IsUnknown("/connection_limit") {
		because("connection_limit", had.ConnectionLimit, *limit)
	}
	if want := members(c, had.MemberOf); (!slices.Equal(want, had.MemberOf) || have == nil) && !c.IsUnknown("/member_of") {
		because("member_of", had.MemberOf, want)
	}
	if have != nil && c.Config.Password != "" && !c.IsUnknown("/password") && !matches(have.stored, c.Config.Password) {
		message := "the server has another password"
		switch {
		case have.stored == "":
			message = "the server has no password"
		case strings.HasPrefix(have.stored, "md5"):
			message = "the server has the password as md5, which is replaced by SCRAM"
		}
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/password", Message: message})
	}
	for _, path := range c.Unknown {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: "known only after other actions"})
		plan.Unknown = append(plan.Unknown, path)
	}
	plan.Unknown = slices.DeleteFunc(plan.Unknown, func(path string) bool { return path == "/password" })
	if have != nil && len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write makes the role what the config declares, in one transaction.
func (k Role) Write(ctx context.Context, c *roleCall) error {
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("BEGIN;\n")
	if have == nil {
		fmt.Fprintf(&b, "CREATE ROLE %s;\n", name(c.Config.Name))
		have = &RoleState{Inherit: true, ConnectionLimit: -1}
	}
	words := []string{}
	for _, f := range flags(c.Config, have) {
		if f.want != nil && *f.want != f.have {
			words = append(words, map[bool]string{true: "", false: "NO"}[*f.want]+f.word)
		}
	}
	if limit := c.Config.ConnectionLimit; limit != nil && *limit != have.ConnectionLimit {
		words = append(words, fmt.Sprintf("CONNECTION LIMIT %d", *limit))
	}
	if c.Config.Password != "" && !matches(have.stored, c.Config.Password) {
		v, err := newVerifier(c.Config.Password)
		if err != nil {
			return err
		}
		words = append(words, "PASSWORD "+text(v.String()))
	}
	if len(words) > 0 {
		fmt.Fprintf(&b, "ALTER ROLE %s %s;\n", name(c.Config.Name), strings.Join(words, " "))
	}
	want := members(c, have.MemberOf)
	for _, group := range want {
		if !slices.Contains(have.MemberOf, group) {
			fmt.Fprintf(&b, "GRANT %s TO %s;\n", name(group), name(c.Config.Name))
		}
	}
	for _, group := range have.MemberOf {
		if !slices.Contains(want, group) {
			fmt.Fprintf(&b, "REVOKE %s FROM %s;\n", name(group), name(c.Config.Name))
		}
	}
	_, err = k.server(c.Config).run(ctx, superuser, b.String()+"COMMIT;\n")
	return err
}

// PlanAbsence reports what stands in the way.
func (k Role) PlanAbsence(_ context.Context, _ *roleCall, have *RoleState) (*protocol.Plan, error) {
	one := protocol.Action{Name: "delete", Destructive: true, Description: "Remove the role and its privileges"}
	if len(have.owns) > 0 {
		one.Description += "; it owns " + some(have.owns)
	}
	return &protocol.Plan{Actions: []protocol.Action{one}}, nil
}

func some(list []string) string {
	if len(list) == 1 {
		return "the database " + list[0]
	}
	return "the databases " + strings.Join(list, ", ")
}

// Delete removes the role. The server refuses that while it owns something.
func (k Role) Delete(ctx context.Context, c *roleCall) error {
	have, err := k.Read(ctx, c)
	if have == nil || err != nil {
		return err
	}
	_, err = k.server(c.Config).run(ctx, superuser, "DROP ROLE IF EXISTS "+name(c.Config.Name)+";\n")
	return err
}

// Discover lists the roles of a server but its own.
func (k Role) Discover(ctx context.Context, c *roleCall, tell func(RoleConfig, string) error) error {
	if c.Config.Port == 0 {
		c.Config.Port, c.Config.Socket = 5432, "/var/run/postgresql"
	}
	var list []RoleState
	_, err := k.server(c.Config).query(ctx, "SELECT json_agg(x.o) FROM ("+
		strings.Replace(roleQuery, "'stored', r.rolpassword", "'s', ''", 1)+
		"r.rolname <> 'postgres' AND r.rolname !~ '^pg_' ORDER BY r.rolname) x(o);\n", &list)
	if errors.Is(err, errNone) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range list {
		found := RoleConfig{Name: s.Name, Port: c.Config.Port, Socket: c.Config.Socket, Login: &s.Login, Superuser: &s.Superuser,
			CreateDatabases: &s.CreateDatabases, CreateRoles: &s.CreateRoles, Replication: &s.Replication, Inherit: &s.Inherit,
			ConnectionLimit: &s.ConnectionLimit, MemberOf: sorted(s.MemberOf), Membership: "minimum"}
		if err := tell(found, s.Name); err != nil {
			return err
		}
	}
	return nil
}
