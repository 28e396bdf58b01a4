package conformance

import (
	"bytes"
	"context"
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/typeclient"
)

const fixDiscover = "Print one JSON object per line for each existing object, {\"config\": {...}, \"name\": \"...\"}, each once, and " +
	"change nothing. docs/protocol.md, section 8.1."

// listsObject queries which objects exist, while the resource's object does. The type gets the
// defaults that a block of it may have: the config without the identity. One that does not list the object
// then, and whose config has a prefix for discovery, is queried with the name of the object as the prefix.
func listsObject(ctx context.Context, i *image) outcome {
	var defaults json.RawMessage
	if len(i.ty.Identity) > 0 {
		defaults = jsondoc.Without(i.o.Config, i.ty.Identity)
	}
	found, ours, wrong := listed(ctx, i, defaults)
	if narrow := narrowed(i, defaults); wrong == nil && ours == 0 && narrow != nil {
		found, ours, wrong = listed(ctx, i, narrow)
	}
	if wrong != nil {
		return *wrong
	}
	switch ours {
	case 0:
		return fail(fixDiscover, "It listed %s, and not the created one.", words.Count(len(found), "thing"))
	case 1:
		return pass("%s", words.Count(len(found), "thing"))
	}
	return fail(fixDiscover, "It listed the created one %d times.", ours)
}

// listed queries which objects exist, and counts the created one among them. wrong is what it does wrong; nil = nothing.
func listed(ctx context.Context, i *image, defaults json.RawMessage) (found []typeclient.Discovered, ours int, wrong *outcome) {
	failed := func(o outcome) ([]typeclient.Discovered, int, *outcome) { return nil, 0, &o }
	found, err := i.client(i.o.Workspace).Discover(ctx, i.target, i.ty, defaults)
	if err != nil {
		return failed(failWith(fixDiscover, err))
	}
	for _, one := range found {
		same, err := namesSame(i.ty.Identity, i.o.Config, one.Config)
		if err != nil {
			return failed(fail(fixDiscover, "What it lists cannot be read: %s.", err))
		}
		if same {
			ours++
		}
	}
	return found, ours, nil
}

// narrowed returns the defaults with the name of the object as the prefix for discovery; nil = the type has none, or the
// config sets it.
func narrowed(i *image, defaults json.RawMessage) json.RawMessage {
	prefix, has := i.client(i.o.Workspace).FindProperty(i.ty.ConfigSchema, "/prefix")
	all, err := jsondoc.OwnObject(defaults)
	if err != nil || !has || prefix.Scalar != "string" || len(i.ty.Identity) == 0 || all["prefix"] != nil {
		return nil
	}
	config, err := jsondoc.Value(i.o.Config)
	if err != nil {
		return nil
	}
	name, is := jsondoc.At(config, jsondoc.Pointer(i.ty.Identity[0])).(string)
	if !is {
		return nil
	}
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if all["prefix"], err = jsondoc.Encode(name); err != nil {
		return nil
	}
	narrow, err := jsondoc.Encode(all)
	if err != nil {
		return nil
	}
	return narrow
}

// namesSame reports whether a listed config describes the same object as config: by the
// identity that config has, or by the whole config if the type has no identity.
func namesSame(identity []string, config, listed json.RawMessage) (bool, error) {
	if len(identity) == 0 {
		return jsondoc.Same(config, listed), nil
	}
	a, err := jsondoc.Value(config)
	if err != nil {
		return false, err
	}
	b, err := jsondoc.Value(listed)
	if err != nil {
		return false, err
	}
	for _, pointer := range identity {
		said := jsondoc.At(a, jsondoc.Pointer(pointer))
		if said == nil { // config relies on the schema's default
			continue
		}
		x, err := jsondoc.Encode(said)
		if err != nil {
			return false, err
		}
		y, err := jsondoc.Encode(jsondoc.At(b, jsondoc.Pointer(pointer)))
		if err != nil || !bytes.Equal(x, y) {
			return false, err
		}
	}
	return true, nil
}
