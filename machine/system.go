package main

import (
	"deployster/machine/internal/access"
	"deployster/machine/internal/accounts"
	"deployster/machine/internal/apt"
	"deployster/machine/internal/certificates"
	"deployster/machine/internal/containers"
	"deployster/machine/internal/nftables"
	"deployster/machine/internal/postgres"
	"deployster/machine/internal/settings"
	"deployster/machine/internal/systemd"
	"deployster/protocol"
)

// system returns the kinds that speak with programs of the system: its package manager, its
// service manager and its accounts.
func system(m *access.Machine) map[string]protocol.Kind {
	return map[string]protocol.Kind{
		"apt_source":        apt.NewSource(m),
		"certificate":       certificates.New(m),
		"container":         containers.New(m),
		"drop_in":           systemd.NewDropIn(m),
		"group":             accounts.NewGroup(m),
		"locale":            settings.NewLocale(m),
		"mount":             systemd.NewMount(m),
		"nftables":          nftables.New(m),
		"package":           apt.NewPackage(m),
		"postgres_database": postgres.NewDatabase(m),
		"postgres_role":     postgres.NewRole(m),
		"service":           systemd.NewService(m),
		"ssh_key":           accounts.NewKey(m),
		"swap":              systemd.NewSwap(m),
		"timer":             systemd.NewTimer(m),
		"unit":              systemd.NewUnit(m),
		"user":              accounts.NewUser(m),
	}
}
