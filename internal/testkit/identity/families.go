package identity

// Family is a kind of histories: the types that are in them, and what happens.
type Family struct {
	Name     string
	Types    []Knows
	Features string // words
}

// On reports whether a feature is on in it.
func (f Family) On(feature string) bool { return featuresOf(f.Features)[feature] }

// Families lists them.
func Families() []Family {
	all := []Knows{ByIdentity, ByConfig, ByName, ByBoth}
	one := []Knows{ByIdentity}
	return []Family{
		{"identity", one, "deps cbd late moved roA ro drift fail target"},
		{"versions", one, "ver"},
		{"two entries of one thing", one, "dup ver"},
		{"replace", one, "replace cbd"},
		{"hosts", one, "hosts deps late moved drift fail target"},
		{"plugs", one, "plugs deps cbd fail"},
		{"a mirror", one, "mirror deps moved fail"},
		{"by config, hosts", []Knows{ByConfig}, "hosts plugs"},
		{"by config", []Knows{ByConfig}, "deps drift"},
		{"by config, selected", []Knows{ByConfig}, "target"},
		{"by name", []Knows{ByName}, "deps drift fail"},
		{"all types", all, "deps cbd late moved drift fail"},
	}
}

// OfTheEngine lists those that take directories and a process, which a model has not:
// a project is copied with its state, and then what is copied is edited and applied; a
// process dies in the middle of an apply; hosts are renamed, and lead to other machines.
func OfTheEngine() []Family {
	one := []Knows{ByIdentity}
	return []Family{
		{"by config, plugs", []Knows{ByConfig}, "plugs deps fail"},
		{"copies", one, "plugs deps cbd fail copy"},
		{"crashes", one, "deps cbd late moved fail crash"},
		{"crashes with plugs", one, "plugs deps cbd crash"},
		{"a first apply that fails", one, "half deps cbd late moved fail target"},
		{"a first apply that dies", one, "half deps cbd late crash"},
		{"machines", one, "machines deps cbd late moved drift fail target"},
		{"machines that are down", one, "machines down deps late fail"},
		{"machines, by config", []Knows{ByConfig}, "machines down deps drift"},
		{"machines, crashes", one, "machines deps cbd crash"},
	}
}
