package edges

import (
	"slices"

	"deployster/config/instance"
)

// depSet is what a value depends on.
type depSet struct {
	found map[*instance.Instance]bool
	waits map[string]bool // the addresses of blocks that are not expanded yet
	files map[string]bool // the names of artifacts
	facts map[string]bool // the names of hosts with unknown facts
}

func (r *depSet) add(i *instance.Instance) {
	if r.found == nil {
		r.found = map[*instance.Instance]bool{}
	}
	r.found[i] = true
}

func (r *depSet) merge(other *depSet) {
	for i := range other.found {
		r.add(i)
	}
	for address := range other.waits {
		r.waitFor(address)
	}
	for name := range other.files {
		r.artifact(name)
	}
	for name := range other.facts {
		r.lack(name)
	}
}

// waitFor adds a block that is not expanded yet.
func (r *depSet) waitFor(address string) {
	if r.waits == nil {
		r.waits = map[string]bool{}
	}
	r.waits[address] = true
}

// through records a reference to a block: if the block is pending, its instances are not complete.
func (r *depSet) through(x *instance.Expansion) {
	if x != nil && x.Pending {
		r.waitFor(x.Address)
	}
}

// addresses returns the addresses of the resources, sorted.
func (r *depSet) addresses() []string {
	list := make([]string, 0, len(r.found))
	for inst := range r.found {
		list = append(list, inst.Address)
	}
	slices.Sort(list)
	return list
}

// artifact adds an artifact.
func (r *depSet) artifact(name string) {
	if r.files == nil {
		r.files = map[string]bool{}
	}
	r.files[name] = true
}

// lack adds a host with unknown facts.
func (r *depSet) lack(host string) {
	if r.facts == nil {
		r.facts = map[string]bool{}
	}
	r.facts[host] = true
}
