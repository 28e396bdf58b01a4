package settings

import "deployster/internal/runtime/runner/machinegrant"

// Machines returns the images that may have this machine as a whole. A command that serves
// another machine takes what that has decided, unless the owner of this one has a list too.
func (env Lookup) Machines(serves bool) machinegrant.List {
	otherwise := machinegrant.Default()
	if serves {
		otherwise = machinegrant.Any()
	}
	return machinegrant.Read(env(machinegrant.Variable), machinegrant.File, otherwise)
}
