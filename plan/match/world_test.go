package match_test

import (
	"fmt"
)

// known is how a type of the histories knows its things.
type known string

const (
	byIdentity known = "id"   // the type says its identity
	byConfig   known = "cfg"  // by its config, and it does not say so
	byName     known = "name" // by the name of the resource
	byBoth     known = "both"
)

// config is what a manifest says of a thing: ID (and Region, for those with an
// identity) name it, V is how it is to be.
type config struct {
	ID     int
	Region string // "" = not said, which is eu
	V      int
	Place  string // a host, or the path of a plug; "" = as all others
}

func (c config) region() string {
	if c.Region == "" {
		return "eu"
	}
	return c.Region
}

// key names a thing of the world.
type key string

func keyOf(ty known, name string, c config) key {
	switch ty {
	case byIdentity:
		return key(fmt.Sprintf("id %d %s %s", c.ID, c.region(), c.Place))
	case byConfig:
		return key(fmt.Sprintf("cfg %d %s", c.ID, c.Place))
	case byName:
		return key("name " + name + c.Place)
	}
	return key(fmt.Sprintf("both %s %d %s", name, c.ID, c.Place))
}

// want is how a thing is when it is right.
func want(ty known, c config) int {
	if ty == byName {
		return 10*c.V + c.ID
	}
	return c.V
}

// thing is one thing of the world.
type thing struct {
	is      int
	birth   int
	foreign bool // somebody else made it
}

// world is what is there.
type world struct {
	things map[key]*thing
	births int
}

func newWorld() *world { return &world{things: map[key]*thing{}} }

func (w *world) make(k key, is int, foreign bool) {
	w.births++
	w.things[k] = &thing{is: is, birth: w.births, foreign: foreign}
}

type status string

const (
	valid   status = "VALID"
	stale   status = "STALE"
	missing status = "MISSING"
)

// ask is the answer of a type: the status, and what is there.
func (w *world) ask(ty known, name string, c config) (status, int) {
	t := w.things[keyOf(ty, name, c)]
	switch {
	case t == nil:
		return missing, 0
	case t.is == want(ty, c):
		return valid, t.is
	}
	return stale, t.is
}

// set brings a thing to what is wanted.
func (w *world) set(ty known, name string, c config) {
	k := keyOf(ty, name, c)
	if t := w.things[k]; t != nil {
		t.is = want(ty, c)
		return
	}
	w.make(k, want(ty, c), false)
}
