package conformance

import (
	"encoding/json"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// image runs the image under test, and has what it declares and what its actions have done.
type image struct {
	o        Options
	recorder *recording.Recorder
	target   typeclient.Target
	schemas  typeschema.Schemas

	ty     protocol.Type
	init   string          // the answer to init, in canonical form
	memory json.RawMessage // the present memory; nil = none
	acted  []string        // the actions that were run last
	made   bool            // an object that the test made exists or may exist
	watch  watch
	values *secret.Hider // of the secrets that it has printed
}

func newImage(o Options, digest string) *image {
	i := &image{o: o, recorder: &recording.Recorder{Runner: o.Runner}, values: secret.NewHider(nil)}
	i.target = typeclient.Target{Address: o.Name, Reference: o.Image, Digest: digest, Settings: o.Settings,
		StateTimeout: o.Timeout, ActionTimeout: o.Timeout}
	i.target.Settings.InitTimeout = o.Timeout
	i.watch.image = i
	return i
}
