package conformance

import (
	"bytes"
	"context"
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
)

const fixDiscover = "Print one JSON object per line for each existing object, {\"config\": {...}, \"name\": \"...\"}, each once, and " +
	"change nothing. docs/protocol.md, section 8.1."

// listsObject queries which objects exist, while the resource's object does. The type gets the
// defaults that a block of it may have: the config without the identity.
func listsObject(ctx context.Context, i *image) outcome {
	var defaults json.RawMessage
	if len(i.ty.Identity) > 0 {
		defaults = jsondoc.Without(i.o.Config, i.ty.Identity)
	}
	found, err := i.client(i.o.Workspace).Discover(ctx, i.target, i.ty, defaults)
	if err != nil {
		return failWith(fixDiscover, err)
	}
	ours := 0
	for _, one := range found {
		same, err := namesSame(i.ty.Identity, i.o.Config, one.Config)
		if err != nil {
			return fail(fixDiscover, "What it lists cannot be read: %s.", err)
		}
		if same {
			ours++
		}
	}
	switch ours {
	case 0:
		return fail(fixDiscover, "It listed %s, and not the created one.", words.Count(len(found), "thing"))
	case 1:
		return pass("%s", words.Count(len(found), "thing"))
	}
	return fail(fixDiscover, "It listed the created one %d times.", ours)
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
