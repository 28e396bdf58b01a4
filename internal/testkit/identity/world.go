package identity

import (
	"fmt"
)

// Knows is how a type knows its things.
type Knows string

// The ways.
const (
	ByIdentity Knows = "id"   // the type says its identity
	ByConfig   Knows = "cfg"  // by its config, and it does not say so
	ByName     Knows = "name" // by the name of the resource
	ByBoth     Knows = "both"
)

// Config is what a manifest says of a thing: ID (and Region, for those with an
// identity) name it, V is how it is to be.
type Config struct {
	ID     int
	Region string // "" = not said, which is eu
	V      int
	Place  string // a host, or the path of a plug; "" = as all others
}

func (c Config) region() string {
	if c.Region == "" {
		return "eu"
	}
	return c.Region
}

// Key names a thing of the world.
type Key string

// KeyOf names the thing that a type means by a config, for the resource of a name.
func KeyOf(ty Knows, name string, c Config) Key {
	switch ty {
	case ByIdentity:
		return Key(fmt.Sprintf("id %d %s %s", c.ID, c.region(), c.Place))
	case ByConfig:
		return Key(fmt.Sprintf("cfg %d %s", c.ID, c.Place))
	case ByName:
		return Key("name " + name + c.Place)
	}
	return Key(fmt.Sprintf("both %s %d %s", name, c.ID, c.Place))
}

// want is how a thing is when it is right.
func want(ty Knows, c Config) int {
	if ty == ByName {
		return 10*c.V + c.ID
	}
	return c.V
}

// Thing is one thing of the world.
type Thing struct {
	Is      int
	Birth   int
	Foreign bool // somebody else made it
}

// World is what is there.
type World struct {
	Things map[Key]*Thing
	births int
}

// NewWorld returns an empty World.
func NewWorld() *World { return &World{Things: map[Key]*Thing{}} }

// Make puts a thing there.
func (w *World) Make(k Key, is int, foreign bool) {
	w.births++
	w.Things[k] = &Thing{Is: is, Birth: w.births, Foreign: foreign}
}

// Status is what a type says of a thing.
type Status string

// The answers.
const (
	Valid   Status = "VALID"
	Stale   Status = "STALE"
	Missing Status = "MISSING"
)

// Ask is the answer of a type: the status, and what is there.
func (w *World) Ask(ty Knows, name string, c Config) (Status, int) {
	t := w.Things[KeyOf(ty, name, c)]
	switch {
	case t == nil:
		return Missing, 0
	case t.Is == want(ty, c):
		return Valid, t.Is
	}
	return Stale, t.Is
}

// Set brings a thing to what is wanted.
func (w *World) Set(ty Knows, name string, c Config) {
	k := KeyOf(ty, name, c)
	if t := w.Things[k]; t != nil {
		t.Is = want(ty, c)
		return
	}
	w.Make(k, want(ty, c), false)
}

// Mirrored is what makes the version of a type one that comes from a mirror.
const Mirrored = 10
