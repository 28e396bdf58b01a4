package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
)

// Recipe is everything that decides which files a get fetches: the same recipe fetches
// the same files. It contains secrets, and its key depends on them.
type Recipe struct {
	Protocol Protocol          `json:"protocol"`
	Digest   string            `json:"digest"` // of the image
	Source   json.RawMessage   `json:"source"` // objects
	Params   json.RawMessage   `json:"params"`
	Space    string            `json:"space"`
	Version  Version           `json:"version"`
	User     string            `json:"user,omitempty"`
	UserNS   runner.UserNS     `json:"userns,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
}

// NewRecipe returns the recipe of a version. A source or params of nil is {}.
func NewRecipe(info Info, settings runner.Settings, source, params json.RawMessage, v Versioned) Recipe {
	return Recipe{Protocol: info.Protocol, Digest: info.Digest, Source: orEmpty(source), Params: orEmpty(params),
		Space: v.Space, Version: v.Version, User: settings.User, UserNS: settings.UserNS, Env: settings.Env}
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if len(object) == 0 {
		return json.RawMessage("{}")
	}
	return object
}

// Key returns the name of the files of a recipe, 64 hexadecimal digits: other files have another key.
func (r Recipe) Key() (string, error) {
	for _, part := range []*json.RawMessage{&r.Source, &r.Params} {
		c, err := jsondoc.CanonicalOwn(orEmpty(*part))
		if err != nil {
			return "", fmt.Errorf("a source or params that are not valid JSON: %w", err)
		}
		*part = c
	}
	if r.UserNS == runner.HostUserNS {
		r.UserNS = "" // means the same
	}
	sum := sha256.Sum256(canonical(r))
	return hex.EncodeToString(sum[:]), nil
}

// mountPrefix distinguishes the source of such a mount from a path of this host.
const mountPrefix = "artifact:"

// MountSource returns the source of a mount that shows the files of a key, or the part of
// them at a path below their root.
func MountSource(key, sub string) string { return mountPrefix + path.Join(key, path.Clean("/"+sub)) }

// ParseMount splits the source of a mount of artifact files; ok = it is one.
func ParseMount(source string) (key, sub string, ok bool) {
	rest, ok := strings.CutPrefix(source, mountPrefix)
	if !ok {
		return "", "", false
	}
	key, sub, _ = strings.Cut(rest, "/")
	return key, sub, true
}
