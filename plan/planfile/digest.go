package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/plan/verdict"
)

// Digest returns a hash of what a plan does: "sha256:" and 64 hex digits. Two plans with
// the same digest do the same. It covers all of plan.json and of the sources,
// except the plan's id, the time at which it was made (unless the sources name
// plantimestamp, which returns that time, or a rule of a policy reads it), the serial of the state file (the
// fingerprints of its entries are covered), where variables got their values from,
// and which state it may begin.
func Digest(p *plan.Plan) (string, error) {
	blank := *p
	blank.ID, blank.Serial, blank.VariableOrigins, blank.Begins = "", 0, nil, nil
	if !readsTime(p.Sources) && !verdict.Timed(p.Policies) {
		blank.Created = time.Time{}
	}
	content, err := encode(&blank)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	add := func(name string, data []byte) {
		_, _ = fmt.Fprintf(hash, "%q %d\n%s\n", name, len(data), data) // a hash does not fail
	}
	if content, err = canonical(content); err != nil {
		return "", err
	}
	add(planName, content)
	index, files := indexSources(p.Sources)
	listing, err := jsondoc.Encode(index)
	if err != nil {
		return "", err
	}
	add(sourcesName, listing)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(name, files[name])
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

// readsTime reports whether the sources may use the time of the plan.
func readsTime(s config.Sources) bool {
	_, files := indexSources(s)
	for _, data := range files {
		if bytes.Contains(data, []byte("plantimestamp")) {
			return true
		}
	}
	return false
}

// canonical sorts the keys of the JSON objects that images and manifests have put into a plan.
func canonical(content []byte) ([]byte, error) {
	if sorted, err := jsondoc.CanonicalOwn(content); err == nil {
		return sorted, nil
	}
	// A manifest may have values that are longer or deeper than is accepted from an image.
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return jsondoc.Encode(v)
}
