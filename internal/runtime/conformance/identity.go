package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/report"
	"deployster/protocol"
)

const fixIdentity = "Declare in the answer to init which values of the config name the object: \"identity\": [\"/path\"]. Each leads to " +
	"a property that is required or has a default, and that is not writeOnly. docs/protocol.md, section 3.2."

// declaresIdentity checks the identity in the image's answer to init.
func declaresIdentity(i *image) outcome {
	if len(i.ty.Identity) == 0 {
		return outcome{verdict: report.Skip, reason: "renames and replacements of this type are guessed: it declares no identity",
			fix: fixIdentity}
	}
	for _, pointer := range i.ty.Identity {
		p, found := i.schemas.FindProperty(i.ty.ConfigSchema, pointer)
		switch {
		case !found:
			return fail(fixIdentity, "%s is not a property of the config_schema.", pointer)
		case p.WriteOnly:
			return fail(fixIdentity, "%s is writeOnly: a secret cannot be an identity.", pointer)
		case !p.Always && !i.ty.Memory: // a memory identifies the object where the config does not
			return fail(fixIdentity, "%s may be missing: it must be required or have a default.", pointer)
		}
	}
	return pass("named by %s", strings.Join(i.ty.Identity, ", "))
}

const fixOther = "Another value of the identity is another object: find exactly the object that the values of \"identity\" name."

// askOther queries an object with another identity, while the first object exists.
func askOther(ctx context.Context, e *engine) outcome {
	if len(e.image.ty.Identity) == 0 {
		return skip("it declares no identity")
	}
	if e.image.ty.Memory {
		return skip("its memory names the object")
	}
	asked := 0
	for _, pointer := range e.image.ty.Identity {
		other, ok := vary(e.image, pointer)
		if !ok {
			continue
		}
		asked++
		a, err := e.image.ask(ctx, present(other))
		switch {
		case err != nil && !isOfImage(err):
			return outcome{err: err}
		case err == nil && a.Status == protocol.Valid:
			return fail(fixOther, "With another %s it is VALID, and only the first object was created.", pointer)
		}
	}
	if asked == 0 {
		return skip("the schema allows no other value to test")
	}
	return e.image.sameAnswer(ctx, present(e.o.Config), e.valid, fixOther)
}

// askChanged queries the same object with each other property changed in turn. If the
// object is not found, that property belongs to its identity too.
func askChanged(ctx context.Context, e *engine) outcome {
	if len(e.image.ty.Identity) == 0 {
		return skip("it declares no identity")
	}
	var config map[string]json.RawMessage
	if err := json.Unmarshal(e.o.Config, &config); err != nil {
		return skip("the config is not an object")
	}
	for _, key := range e.image.schemas.PropertyNames(e.image.ty.ConfigSchema) {
		config[key] = nil // a property without a value may belong to the identity too
	}
	asked, names := 0, []string(nil)
	for _, key := range slices.Sorted(maps.Keys(config)) {
		pointer := jsondoc.JoinPointer([]string{key})
		changed, ok := vary(e.image, pointer)
		identifies := func(identity string) bool { return identity == pointer || strings.HasPrefix(identity, pointer+"/") }
		if !ok || slices.ContainsFunc(e.image.ty.Identity, identifies) {
			continue
		}
		a, err := e.image.ask(ctx, present(changed))
		if err != nil && !isOfImage(err) {
			return outcome{err: err}
		}
		if asked++; err == nil && a.Status == protocol.Missing {
			names = append(names, pointer)
		}
	}
	switch {
	case len(names) > 0:
		return outcome{verdict: report.Skip, reason: strings.Join(names,
			", ") + " names the object, too: with another value it is not found",
			fix: fixIdentity}
	case asked == 0:
		return skip("there is no other property whose value could be changed")
	}
	return pass("%d properties were changed", asked)
}

// vary returns the config with another value at one place that the schema allows.
func vary(i *image, pointer string) (json.RawMessage, bool) {
	tree, err := jsondoc.Value(i.o.Config)
	if err != nil {
		return nil, false
	}
	steps := jsondoc.Pointer(pointer)
	parent, ok := jsondoc.At(tree, steps[:len(steps)-1]).(map[string]any)
	if !ok {
		return nil, false
	}
	p, _ := i.schemas.FindProperty(i.ty.ConfigSchema, pointer)
	last := steps[len(steps)-1]
	value, there := parent[last]
	switch {
	case there:
	case p.Default != nil:
		value, _ = jsondoc.Value(p.Default)
	default:
		value = firstOf(p.Scalar)
	}
	for _, other := range append(others(value), p.Enum...) {
		if fmt.Sprint(other) == fmt.Sprint(value) {
			continue
		}
		parent[last] = other
		config, err := jsondoc.Encode(tree)
		if err == nil && len(i.client("").CheckConfig(i.ty, config, nil)) == 0 {
			return config, true
		}
	}
	return nil, false
}

// firstOf returns a start value of a scalar type, near which others are tried; nil for other types.
func firstOf(scalar string) any {
	switch scalar {
	case "string":
		return ""
	case "number", "integer":
		return json.Number("1")
	case "boolean":
		return false
	}
	return nil
}

// others returns values near the given one.
func others(value any) []any {
	switch v := value.(type) {
	case string:
		list := []any{v + "x", v + "1", "x" + v}
		if v != "" {
			list = append(list, v[:len(v)-1]+"x", v[:len(v)-1]+"1")
		}
		return list
	case bool:
		return []any{!v}
	case json.Number:
		n, ok := new(big.Int).SetString(v.String(), 10)
		if !ok {
			return nil
		}
		one := big.NewInt(1)
		return []any{json.Number(new(big.Int).Add(n, one).String()), json.Number(new(big.Int).Sub(n, one).String())}
	}
	return nil
}
