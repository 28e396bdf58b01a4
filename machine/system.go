package main

import (
	"deployster/machine/internal/access"
	"deployster/machine/internal/apt"
	"deployster/protocol"
)

// system returns the kinds that speak with programs of the system: its package manager, its
// service manager and its accounts.
func system(m *access.Machine) map[string]protocol.Kind {
	return map[string]protocol.Kind{
		"package": apt.NewPackage(m),
	}
}
