package certificates

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// Config is what a user writes about a certificate.
type Config struct {
	Path        string   `json:"path" pattern:"^/." deployster:"identity"`
	KeyPath     string   `json:"key_path,omitempty" pattern:"^/." deployster:"computed"`
	CommonName  string   `json:"common_name" minLength:"1" maxLength:"64"`
	DNSNames    []string `json:"dns_names,omitempty"`
	Days        int      `json:"days" default:"90" minimum:"1" maximum:"36500"`
	RenewBefore int      `json:"renew_before,omitempty" minimum:"1"`
	Issuer      string   `json:"issuer" default:"self" pattern:"^(self|/.+|https://.+)$"`
	IssuerKey   string   `json:"issuer_key,omitempty" pattern:"^/."`
	CA          bool     `json:"ca,omitempty"`
	KeyType     string   `json:"key_type" default:"ecdsa-p256" enum:"ecdsa-p256,ecdsa-p384,rsa-2048,rsa-4096"`
	Owner       string   `json:"owner" default:"root" minLength:"1"`
	Group       string   `json:"group" default:"root" minLength:"1"`
	Webroot     string   `json:"webroot,omitempty" pattern:"^/."`
	Email       string   `json:"email,omitempty" pattern:"^[^@\\s]+@[^@\\s]+$"`
	AcceptTerms bool     `json:"accept_terms,omitempty"`
	ServerCA    string   `json:"server_ca,omitempty" pattern:"^/."`
}

var docs = map[string]string{
	"path": "The file of the certificate, and of those between it and its authority.",
	"key_path": "The file of its private key, which its owner alone can read. Left out, path with .key at its end in place of .pem or " +
		".crt.",
	"common_name": "The name of the subject.",
	"dns_names":   "The names and addresses that it is for. Left out, common_name; for an authority none.",
	"days":        "How long a new certificate is valid. A server of ACME decides that itself.",
	"renew_before": "How many days before its end it is renewed, at most two thirds of its life. Left out, a third of its life " +
		"before its end.",
	"issuer": "Who signs it: self, the file of an authority's certificate on the machine, or the URL of the directory of a server of ACME.",
	"issuer_key": "The key of the authority. Left out, the path of its certificate with .key at its end, as the kind certificate makes " +
		"it.",
	"ca":           "Whether it may sign others.",
	"key_type":     "The type of its key. A key of another type is replaced.",
	"owner":        "The user that owns both files.",
	"group":        "The group that owns both files.",
	"webroot":      "ACME: the directory of which the web server of the name shows /.well-known/acme-challenge/.",
	"email":        "ACME: whom the server notifies.",
	"accept_terms": "ACME: whether the terms of the server are accepted. It is required there.",
	"server_ca":    "ACME: the file of the authority of the server itself. Left out, those that the machine trusts.",
}

// State is what exists.
type State struct {
	CommonName  string   `json:"common_name" doc:"the name of the subject"`
	DNSNames    []string `json:"dns_names" doc:"the names and addresses that it is for"`
	Issuer      string   `json:"issuer" doc:"who signed it, in the words of the config"`
	NotAfter    string   `json:"not_after" doc:"when it ends"`
	Fingerprint string   `json:"fingerprint" doc:"its SHA-256"`
	KeyType     string   `json:"key_type" doc:"the type of its key"`

	one     *x509.Certificate // nil = there is none
	key     bool              // its key exists
	renew   time.Time
	reasons []protocol.Reason // how it differs from the config
}

type call = protocol.Call[Config, State]

// Certificate is the kind of certificates.
type Certificate struct {
	machine *access.Machine
	now     func() time.Time
}

// New returns the kind certificate.
func New(m *access.Machine) protocol.Kind { return newAt(m, time.Now) }

func newAt(m *access.Machine, now func() time.Time) protocol.Kind {
	return protocol.NewKind(Certificate{m, now}, protocol.About{Label: "Certificate", Kind: "linux/certificate", Worker: true,
		Unknowns: true,
		Docs:     docs, AutoEdges: []protocol.AutoEdge{{Kind: "linux/directory", By: "/path", Parents: true},
			{Kind: "linux/directory", By: "/key_path", Parents: true}, {Kind: "linux/directory", By: "/webroot"},
			{Kind: "linux/certificate", By: "/issuer"}, {Kind: "linux/user", By: "/owner"}, {Kind: "linux/group", By: "/group"}}})
}

func (c Config) keyPath() string {
	if c.KeyPath != "" {
		return c.KeyPath
	}
	return keyBeside(c.Path)
}

// keyBeside is where the key of a certificate is unless a config has another place.
func keyBeside(path string) string {
	for _, end := range []string{".pem", ".crt"} {
		if short, ok := strings.CutSuffix(path, end); ok {
			return short + ".key"
		}
	}
	return path + ".key"
}

func (c Config) issuerKey() string {
	if c.IssuerKey != "" {
		return c.IssuerKey
	}
	return keyBeside(c.Issuer)
}

func (c Config) acme() bool { return strings.HasPrefix(c.Issuer, "https://") }

// names are what the certificate is for.
func (c Config) names() []string {
	names := slices.Clone(c.DNSNames)
	if len(names) == 0 && !c.CA {
		names = []string{c.CommonName}
	}
	for i := range names {
		names[i] = normal(names[i])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (k Certificate) check(c *call) error {
	if err := k.machine.CheckPath("/path", c.Config.Path); err != nil {
		return err
	}
	if err := k.machine.CheckPath("/key_path", c.Config.keyPath()); err != nil {
		return err
	}
	if c.Config.keyPath() == c.Config.Path {
		return protocol.Errorf(protocol.ConfigError, "/key_path", "%s is the file of the certificate: the key needs another", c.Config.Path)
	}
	if c.Intent == protocol.Absent {
		return nil
	}
	for i, name := range c.Config.DNSNames {
		if !isName(name) && !c.IsUnknown("/dns_names") {
			return protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/dns_names/%d", i), "%q is neither the name of a host nor an address",
				name)
		}
	}
	if len(c.Config.DNSNames) == 0 && !c.Config.CA && !isName(c.Config.CommonName) && !c.IsUnknown("/common_name") &&
		!c.IsUnknown("/dns_names") {
		return protocol.Errorf(protocol.ConfigError, "/dns_names",
			"%q is neither the name of a host nor an address: list in dns_names what the certificate is for", c.Config.CommonName)
	}
	if c.IsUnknown("/issuer") {
		return nil
	}
	return k.checkIssuer(c)
}

func (k Certificate) checkIssuer(c *call) error {
	refuse := func(path, format string, args ...any) error {
		return protocol.Errorf(protocol.ConfigError, path, format, args...)
	}
	switch config := c.Config; {
	case config.Issuer == config.Path:
		return refuse("/issuer", "%s is the certificate itself: write self", config.Path)
	case !config.acme() && config.RenewBefore >= config.Days:
		return refuse("/renew_before", "a certificate of %d days would be renewed all the time, %d days before its end", config.Days,
			config.RenewBefore)
	case !config.acme() && config.Webroot != "":
		return refuse("/webroot", "a webroot is for a server of ACME: write the URL of its directory as issuer")
	case !config.acme():
		return nil
	case config.CA:
		return refuse("/ca", "a server of ACME signs no authorities")
	case config.Webroot == "" && !c.IsUnknown("/webroot"):
		return refuse("/webroot", "the server of ACME reads a file of each name: write the directory that the web server shows")
	case !config.AcceptTerms && !c.IsUnknown("/accept_terms"):
		return refuse("/accept_terms", "the server of ACME has terms: read them, and write accept_terms = true")
	}
	for _, name := range c.Config.names() {
		if strings.HasPrefix(name, "*.") {
			return refuse("/dns_names", "%s has a wildcard, which a server of ACME does not sign by a file of a web server", name)
		}
	}
	return nil
}

// Read returns the certificate; nil if there is none.
func (k Certificate) Read(ctx context.Context, c *call) (*State, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	list, err := k.certificates(c.Config.Path)
	if err != nil {
		return nil, protocol.Errorf(protocol.ConfigError, "/path", "%s", err)
	}
	key, err := k.key(c.Config.keyPath())
	if err != nil {
		return nil, protocol.Errorf(protocol.ConfigError, "/key_path", "%s", err)
	}
	if len(list) == 0 {
		if c.Intent == protocol.Absent && key != nil && c.LastState != nil {
			return &State{key: true}, nil // the rest of a removal that was not finished
		}
		return nil, nil
	}
	one := list[0]
	s := &State{CommonName: one.Subject.CommonName, DNSNames: namesOf(one), NotAfter: one.NotAfter.UTC().Format(time.RFC3339),
		Fingerprint: hex.EncodeToString(sum(one.Raw)), KeyType: typeOf(one.PublicKey), one: one, key: key != nil}
	if c.Intent == protocol.Absent {
		return s, nil
	}
	if s.Issuer, err = k.issuerOf(c, one); err != nil {
		return nil, err
	}
	s.renew = renewal(c.Config, one)
	s.reasons = append(k.differs(c, s), k.about(ctx, c, key != nil && !same(key.Public(), one.PublicKey))...)
	return s, nil
}

// renewal is when a certificate is renewed.
func renewal(c Config, one *x509.Certificate) time.Time {
	life := one.NotAfter.Sub(one.NotBefore)
	before := life / 3
	if c.RenewBefore > 0 {
		before = min(time.Duration(c.RenewBefore)*day, life/3*2)
	}
	return one.NotAfter.Add(-before)
}

const day = 24 * time.Hour

// slow is how much later than the clock of the machine that of a server may be.
const slow = 5 * time.Minute

// differs returns why a new certificate is needed.
func (k Certificate) differs(c *call, s *State) (list []protocol.Reason) {
	because := func(path, format string, args ...any) {
		list = append(list, protocol.Reason{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	now := k.now()
	if s.CommonName != c.Config.CommonName && !c.Config.acme() && !c.IsUnknown("/common_name") {
		because("/common_name", "it is for %s", s.CommonName)
	}
	if want := c.Config.names(); !slices.Equal(want, s.DNSNames) && !c.IsUnknown("/dns_names") && !c.IsUnknown("/common_name") {
		because("/dns_names", "it is for %s", orNone(s.DNSNames))
	}
	if s.Issuer != c.Config.Issuer && !c.IsUnknown("/issuer") {
		because("/issuer", "it is signed by %s", s.Issuer)
	}
	if s.one.IsCA != c.Config.CA {
		because("/ca", "%s", map[bool]string{true: "it may sign others", false: "it may not sign others"}[s.one.IsCA])
	}
	if s.KeyType != c.Config.KeyType {
		because("/key_type", "its key is of the type %s", s.KeyType)
	}
	switch {
	case now.Add(slow).Before(s.one.NotBefore):
		because("/days", "it is valid only from %s on, and the clock of the machine shows %s", s.one.NotBefore.UTC().Format(time.RFC3339),
			now.UTC().Format(time.RFC3339))
	case !now.Before(s.one.NotAfter):
		because("/renew_before", "it ended at %s", s.NotAfter)
	case !now.Before(s.renew):
		because("/renew_before", "it ends at %s, and is renewed since %s", s.NotAfter, s.renew.UTC().Format(time.RFC3339))
	}
	return list
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no names"
	}
	return strings.Join(names, ", ")
}

// about returns what is wrong with the files.
func (k Certificate) about(ctx context.Context, c *call, other bool) (list []protocol.Reason) {
	because := func(path, format string, args ...any) {
		list = append(list, protocol.Reason{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if other {
		because("/key_path", "%s has another key than the certificate", c.Config.keyPath())
	}
	for at, path := range map[string]string{"/path": c.Config.Path, "/key_path": c.Config.keyPath()} {
		info, err := os.Lstat(k.machine.Path(path))
		if err != nil {
			because(at, "%s does not exist", path)
			continue
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			because(at, "%s is a link, and is replaced", path)
			continue
		}
		stat := info.Sys().(*syscall.Stat_t)
		if have := k.machine.UserText(ctx, int(stat.Uid), c.Config.Owner); have != c.Config.Owner {
			because("/owner", "%s belongs to %s", path, have)
		}
		if have := k.machine.GroupText(ctx, int(stat.Gid), c.Config.Group); have != c.Config.Group {
			because("/group", "the group of %s is %s", path, have)
		}
		if want := modes[at]; stat.Mode&0o7777 != want {
			because(at, "the mode of %s is %04o, and must be %04o", path, stat.Mode&0o7777, want)
		}
	}
	slices.SortFunc(list, func(a, b protocol.Reason) int { return strings.Compare(a.Path+a.Message, b.Path+b.Message) })
	return list
}

// modes of the files. Only the owner reads the key.
var modes = map[string]uint32{"/path": 0o644, "/key_path": 0o600}
