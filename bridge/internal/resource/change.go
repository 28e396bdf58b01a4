package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
	"deployster/bridge/internal/value"
	"deployster/protocol"
)

// The actions of the bridge.
const (
	createAction = "create"
	updateAction = "update"
	deleteAction = "delete"
)

// change is a change from the present state to the planned one.
type change struct {
	from              cty.Value
	to                planned
	replaces, tainted bool
}

func (c *change) none() bool { return !c.replaces && !c.from.IsNull() && c.from.RawEquals(c.to.state) }

// differs returns the attributes and blocks that will change, sorted.
func (c *change) differs() (names []string) {
	if c.to.state.IsNull() {
		return nil
	}
	for name, will := range c.to.state.AsValueMap() {
		if c.from.IsNull() && (!will.IsKnown() || !will.IsNull()) || !c.from.IsNull() && !c.from.GetAttr(name).RawEquals(will) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// forces reports whether a member, or a part of it, cannot be changed in place.
func (c *change) forces(name string) bool {
	for p := range c.to.forces {
		if p == "/"+name || strings.HasPrefix(p, "/"+name+"/") {
			return true
		}
	}
	return false
}

func (c *change) reasons(b *schema.Block) (list []protocol.Reason) {
	if c.from.IsNull() {
		return nil
	}
	if c.tainted {
		list = append(list, protocol.Reason{Message: "its creation failed: it is replaced"})
	}
	for _, name := range c.differs() {
		will, was := c.to.state.GetAttr(name), c.from.GetAttr(name)
		r := protocol.Reason{Path: "/" + name}
		switch {
		case sensitive(b, name):
		case !will.IsWhollyKnown():
			r.Message = name + ": (known after apply)"
		default:
			r.Have, r.Want = plain(was), plain(will)
		}
		if c.forces(name) {
			r.Message = strings.TrimPrefix(r.Message+", forces replacement", ", ")
		}
		list = append(list, r)
	}
	return list
}

func plain(v cty.Value) json.RawMessage {
	raw, err := json.Marshal(value.JSON(v))
	if err != nil {
		return nil
	}
	return raw
}

// sensitive reports whether a member is sensitive, or has a sensitive part.
func sensitive(b *schema.Block, name string) bool {
	if a := b.Attributes[name]; a != nil {
		return a.Sensitive || a.WriteOnly || a.Nested != nil && holdsSensitive(a.Nested.Block)
	}
	n := b.Blocks[name]
	return n != nil && holdsSensitive(n.Block)
}

func holdsSensitive(b *schema.Block) bool {
	for name := range b.Attributes {
		if sensitive(b, name) {
			return true
		}
	}
	for name := range b.Blocks {
		if sensitive(b, name) {
			return true
		}
	}
	return false
}

// unknown returns pointers to values that are known only after the action: values that
// the provider does not know yet, and changed secrets, which are not in the forecast.
func (c *change) unknown(b *schema.Block) (list []string) {
	for _, name := range c.differs() {
		will := c.to.state.GetAttr(name)
		switch {
		case will.IsWhollyKnown() && !sensitive(b, name):
		case !sensitive(b, name):
			_, open := knownPart(will, "/"+escape(name))
			list = append(list, open...)
		case c.from.IsNull():
			list = append(list, "/"+escape(name))
		default:
			list = append(list, otherParts(c.from.GetAttr(name), will, "/"+escape(name))...)
		}
	}
	return list
}

// otherParts returns pointers to the smallest parts that will change, if both values have
// the same parts.
func otherParts(was, will cty.Value, at string) (list []string) {
	if will.RawEquals(was) {
		return nil
	}
	before, after := parts(was), parts(will)
	if len(before) == 0 || len(before) != len(after) || len(before) > maxParts {
		return []string{at}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		part, there := before[key]
		if !there {
			return []string{at}
		}
		if list = append(list, otherParts(part, after[key], at+"/"+escape(key))...); len(list) > maxParts {
			return []string{at}
		}
	}
	return list
}

// maxParts is the maximum number of parts of one member that are listed separately.
const maxParts = 50

// parts returns the parts of a value that a pointer can name; elements of a set have no index.
func parts(v cty.Value) map[string]cty.Value {
	if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() || v.Type().IsSetType() {
		return nil
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		return v.AsValueMap()
	}
	out := map[string]cty.Value{}
	for i, inner := range v.AsValueSlice() {
		out[strconv.Itoa(i)] = inner
	}
	return out
}

// escape escapes a name for a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// forecast returns the known part of the planned state: what changes, except for secrets, and
// what stays of an object that exists. mayDiffer = the provider may deviate from its plan.
func (c *change) forecast(b *schema.Block) (known json.RawMessage, mayDiffer bool, err error) {
	if c.to.state.IsNull() {
		return nil, false, nil
	}
	changed, members := c.differs(), map[string]any{}
	for name, will := range c.to.state.AsValueMap() {
		at := "/" + escape(name)
		switch changes := slices.Contains(changed, name); {
		case changes && sensitive(b, name), !changes && c.from.IsNull():
		default:
			if part, open := knownPart(will, at); !slices.Contains(open, at) {
				members[name] = part
			}
		}
	}
	if len(members) == 0 {
		return nil, false, nil
	}
	known, err = json.Marshal(members)
	return known, c.to.legacy, err
}

// knownPart returns what is known of a value in JSON, and pointers to what is not: a member of an
// object that is not known is left out, and an element of a list is null. A set that has an
// unknown element is not known itself, since a pointer cannot name its elements.
func knownPart(v cty.Value, at string) (known any, unknown []string) {
	switch {
	case v.IsWhollyKnown():
		return value.JSON(v), nil
	case !v.IsKnown() || v.Type().IsSetType():
		return nil, []string{at}
	}
	members, list := map[string]any{}, []any(nil)
	inner := parts(v)
	for _, key := range keysInOrder(v, inner) {
		here := at + "/" + escape(key)
		part, open := knownPart(inner[key], here)
		unknown = append(unknown, open...)
		if list = append(list, part); !slices.Contains(open, here) {
			members[key] = part
		}
	}
	switch {
	case len(unknown) > maxParts:
		return nil, []string{at}
	case v.Type().IsObjectType() || v.Type().IsMapType():
		return members, unknown
	}
	return list, unknown
}

// keysInOrder are the keys of the parts of a value: names sorted, elements in their order.
func keysInOrder(v cty.Value, parts map[string]cty.Value) []string {
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		return slices.Sorted(maps.Keys(parts))
	}
	keys := make([]string, len(parts))
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	return keys
}

// digest identifies a change as it was shown: an action that finds another digest does
// nothing.
func (c *change) digest(b *schema.Block) string {
	var lines []string
	for _, name := range c.differs() {
		if sensitive(b, name) {
			continue
		}
		wanted := "unknown"
		if v := c.to.state.GetAttr(name); v.IsWhollyKnown() {
			wanted = string(plain(v))
		}
		lines = append(lines, fmt.Sprintf("%s %s %v\n", name, wanted, c.forces(name)))
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:6])
}

func (c *change) actions(kind string, b *schema.Block) []protocol.Action {
	switch {
	case c.replaces:
		why := "because its creation failed"
		if names := slices.Sorted(maps.Keys(c.to.forces)); len(names) > 0 {
			why = "because " + strings.ReplaceAll(strings.Join(names, ", "), "/", "") + " cannot be changed in place"
		}
		first := action(deleteAction, "Destroy the "+kind+", "+why, "")
		first.Destructive = true // so that a rule against destruction applies
		anew := &change{from: cty.NullVal(c.from.Type()), to: planned{state: c.to.state}}
		return []protocol.Action{first, action(createAction, "Create it again", anew.digest(b))}
	case c.from.IsNull():
		return []protocol.Action{action(createAction, "Create the "+kind, c.digest(b))}
	}
	return []protocol.Action{action(updateAction, "Update the "+kind, c.digest(b))}
}

func action(name, description, digest string) protocol.Action {
	a := protocol.Action{Name: name, Description: description, Command: protocol.Command{Args: []string{name}}}
	if digest != "" {
		a.Args = append(a.Args, digest)
	}
	return a
}
