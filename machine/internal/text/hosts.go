package text

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// hostsFile is the file of the names that a machine knows without a server.
const hostsFile = "/etc/hosts"

// HostsConfig is what a user writes about a name in /etc/hosts.
type HostsConfig struct {
	Name      string   `json:"name" pattern:"^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$" deployster:"identity"`
	Addresses []string `json:"addresses" minItems:"1"`
	Aliases   []string `json:"aliases,omitempty"`
}

var hostsDocs = map[string]string{
	"name":      "The name of the host, which is the first one after its address.",
	"addresses": "Its addresses, of IPv4 or IPv6: each has a line of its own.",
	"aliases":   "Its other names, which each line has too.",
}

// HostsState is what exists.
type HostsState struct {
	Addresses []string `json:"addresses" doc:"the addresses of the name"`
	Aliases   []string `json:"aliases,omitempty" doc:"the other names in the same lines"`

	differ bool // the lines have not the same aliases
}

type hostsCall = protocol.Call[HostsConfig, HostsState]

// Hosts is the kind of names in /etc/hosts.
type Hosts struct{ Machine *access.Machine }

// NewHosts returns the kind hosts_entry.
func NewHosts(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Hosts{m}, protocol.About{Label: "Name in /etc/hosts", Kind: "linux/hosts_entry", Worker: true, Unknowns: true,
		Docs: hostsDocs})
}

// hostsLine returns the address and the names of a line, without its comment.
func hostsLine(text string) (address string, names []string) {
	text, _, _ = strings.Cut(text, "#")
	words := strings.Fields(text)
	if len(words) < 2 {
		return "", nil
	}
	return words[0], words[1:]
}

// sameAddress compares addresses, which can be written in several ways.
func sameAddress(a, b string) bool {
	x, err := netip.ParseAddr(a)
	y, wrong := netip.ParseAddr(b)
	return err == nil && wrong == nil && x == y || a == b
}

// entry returns the numbers of the lines of a name.
func (k Hosts) entry(c *hostsCall, d document) (at []int, err error) {
	for i, l := range d {
		switch _, names := hostsLine(l.text); {
		case len(names) == 0:
		case strings.EqualFold(names[0], c.Config.Name):
			at = append(at, i)
		case c.Intent == protocol.Present:
			for j, name := range append([]string{c.Config.Name}, c.Config.Aliases...) {
				if !contains(names, name) {
					continue
				}
				path := "/name"
				if j > 0 {
					path = fmt.Sprintf("/aliases/%d", j-1)
				}
				return nil, protocol.Errorf(protocol.ConfigError, path,
					"%s is a name of %s too, in line %d of %s: one name would have the addresses of both", name, names[0], i+1, hostsFile)
			}
		}
	}
	return at, nil
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

func (k Hosts) check(c *hostsCall) (textFile, error) {
	if c.Intent == protocol.Present && !c.IsUnknown("/addresses") {
		for i, a := range c.Config.Addresses {
			at := fmt.Sprintf("/addresses/%d", i)
			if _, err := netip.ParseAddr(a); err != nil {
				return textFile{}, protocol.Errorf(protocol.ConfigError, at, "%q is not an address of IPv4 or IPv6", a)
			}
			if slices.ContainsFunc(c.Config.Addresses[:i], func(b string) bool { return sameAddress(a, b) }) {
				return textFile{}, protocol.Errorf(protocol.ConfigError, at, "%s is in the list twice", a)
			}
		}
	}
	for i, name := range c.Config.Aliases {
		if strings.ContainsAny(name, " \t\r\n#") || name == "" {
			return textFile{}, protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/aliases/%d", i), "%q is not the name of a host", name)
		}
	}
	return openText(k.Machine, hostsFile)
}

// Read returns the lines of a name, or nil.
func (k Hosts) Read(_ context.Context, c *hostsCall) (*HostsState, error) {
	f, err := k.check(c)
	if err != nil {
		return nil, err
	}
	d, exists, err := f.read()
	if err != nil || !exists {
		return nil, err
	}
	at, err := k.entry(c, d)
	if err != nil || len(at) == 0 {
		return nil, err
	}
	s := &HostsState{}
	for n, i := range at {
		address, names := hostsLine(d[i].text)
		if n < len(c.Config.Addresses) && sameAddress(address, c.Config.Addresses[n]) {
			address = c.Config.Addresses[n] // in the words of the config
		}
		s.Addresses = append(s.Addresses, address)
		if n == 0 {
			s.Aliases = names[1:]
		} else if !slices.Equal(names[1:], s.Aliases) {
			s.differ = true
		}
	}
	return s, nil
}

// Plan adds that lines of one name have not the same aliases.
func (k Hosts) Plan(_ context.Context, c *hostsCall, have *HostsState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil {
		return nil, err
	}
	if have != nil && have.differ {
		if plan == nil {
			plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
		}
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/aliases",
			Message: "the lines of the name do not all have the same aliases"})
	}
	return plan, nil
}

// Write replaces the lines of the name, where they are, and keeps those that are right.
func (k Hosts) Write(ctx context.Context, c *hostsCall) error {
	f, err := k.check(c)
	if err != nil {
		return err
	}
	return f.edit(ctx, nil, func(d document) (document, error) {
		at, err := k.entry(c, d)
		if err != nil {
			return nil, err
		}
		for n := max(len(at), len(c.Config.Addresses)) - 1; n >= 0; n-- { // from the end: the numbers before stay true
			switch {
			case n >= len(c.Config.Addresses):
				d = d.splice(at[n], 1)
			case n >= len(at):
			default:
				d = d.splice(at[n], 1, hostsText(c.Config, n, d[at[n]].text))
			}
		}
		for n := len(at); n < len(c.Config.Addresses); n++ {
			place := len(d)
			if len(at) > 0 {
				place = at[len(at)-1] + 1 + n - len(at)
			}
			d = d.splice(place, 0, hostsText(c.Config, n, ""))
		}
		return d, nil
	})
}

// hostsText returns the line of an address; one that has it already is unchanged, and its comment stays.
func hostsText(c HostsConfig, n int, old string) string {
	address, names := hostsLine(old)
	if address != "" && sameAddress(address, c.Addresses[n]) && slices.Equal(names, append([]string{c.Name}, c.Aliases...)) {
		return old
	}
	text := strings.Join(append([]string{c.Addresses[n], c.Name}, c.Aliases...), " ")
	if _, comment, has := strings.Cut(old, "#"); has {
		text += " #" + comment
	}
	return text
}

// Delete removes the lines of the name.
func (k Hosts) Delete(ctx context.Context, c *hostsCall) error {
	f, err := k.check(c)
	if err != nil {
		return err
	}
	if _, exists, err := f.read(); err != nil || !exists {
		return err
	}
	return f.edit(ctx, nil, func(d document) (document, error) {
		at, err := k.entry(c, d)
		for _, i := range slices.Backward(at) {
			d = d.splice(i, 1)
		}
		return d, err
	})
}

// Watch reports changes of the file.
func (k Hosts) Watch(ctx context.Context, _ *hostsCall, tell func(detail string)) error {
	return files.WatchFollowed(ctx, k.Machine, hostsFile, tell)
}

// Discover lists the names.
func (k Hosts) Discover(_ context.Context, _ *hostsCall, tell func(HostsConfig, string) error) error {
	f, err := openText(k.Machine, hostsFile)
	if err != nil {
		return err
	}
	d, _, err := f.read()
	if err != nil {
		return err
	}
	var order []string
	all := map[string]*HostsConfig{}
	for _, l := range d {
		address, names := hostsLine(l.text)
		if len(names) == 0 {
			continue
		}
		name := strings.ToLower(names[0])
		if all[name] == nil {
			order = append(order, name)
			all[name] = &HostsConfig{Name: names[0], Aliases: names[1:]}
		}
		all[name].Addresses = append(all[name].Addresses, address)
	}
	for _, name := range order {
		if err := tell(*all[name], name); err != nil {
			return err
		}
	}
	return nil
}
