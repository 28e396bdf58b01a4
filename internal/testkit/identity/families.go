package identity

// Family is a kind of histories: the types that are in them, and what happens.
type Family struct {
	Name     string
	Types    []Knows
	Features string // words
}

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
