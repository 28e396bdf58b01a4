package runner

import "fmt"

// PullPolicy says when a registry is asked for an image.
type PullPolicy string

// The policies. "" is PullMissing.
const (
	PullMissing PullPolicy = "missing" // when the image is not here
	PullAlways  PullPolicy = "always"  // whenever it is planned: the tag may have moved
	PullNever   PullPolicy = "never"   // not at all
)

// Verify says whose signature an image must carry.
type Verify struct {
	Keys       []byte `json:"keys"`                 // one or more public keys, PEM; a signature of any of them will do
	KeyName    string `json:"name"`                 // where the keys come from, for messages
	Repository string `json:"repository,omitempty"` // that the signature must name; "" = the image's own
}

// Wanted is an image that is needed, and on which terms.
type Wanted struct {
	Reference string // as the user wrote it
	Pull      PullPolicy
	Digest    string  // that it must have, "sha256:..."; "" = whatever the name means
	Verify    *Verify // nil = nobody need have signed it
	Force     bool    // where the name means another image here, it shall mean Digest
}

// DigestError says that the name of an image means another one than was asked
// for.
type DigestError struct {
	Reference  string
	Have, Want string // digests
	InRegistry bool   // Have is what the registry says; else what is here
}

func (e *DigestError) Error() string {
	where := "here"
	if e.InRegistry {
		where = "in its registry"
	}
	return fmt.Sprintf("%s is %s %s, and not %s", e.Reference, e.Have, where, e.Want)
}
