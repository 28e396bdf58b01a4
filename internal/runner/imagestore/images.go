package imagestore

import (
	"time"

	"deployster/internal/base/imagefiles"
)

// Image is an image that is here.
type Image struct {
	Name    string    `json:"name"`   // the full name; the digest where it has no other
	Digest  string    `json:"digest"` // of its manifest or index
	Size    int64     `json:"size"`   // of its content, compressed as it is kept
	Created time.Time `json:"created"`
	From    string    `json:"from,omitempty"` // the name it was pulled by; "" = it was made or brought here
}

// PackOptions say what a new image is made of.
type PackOptions struct {
	Reference string          // the new image's name
	Dir       string          // its files, as they are below this directory; "" = none
	Files     *imagefiles.Set // more files; nil = none
	Base      string          // an image here, on which the files are put; "" = none

	Entrypoint []string          // nil = the base's; given, it also drops the base's Cmd
	Cmd        []string          // nil = the base's
	Env        map[string]string // added to the base's
	User       string            // "" = the base's
	WorkingDir string            // "" = the base's
}

// Phase is what a pull is doing.
type Phase string

// The phases, in their order; a pull that is retried begins again.
const (
	Resolving   Phase = "resolving"
	Verifying   Phase = "verifying"
	Downloading Phase = "downloading"
	Unpacking   Phase = "unpacking"
	Retrying    Phase = "retrying"
	Done        Phase = "done"
	Failed      Phase = "failed"
)

// Progress is how far the pull of one image is.
type Progress struct {
	Reference   string // as a user would write it
	Phase       Phase
	Done, Total int64         // bytes of the layers that were not here; 0 of 0 before they are known
	Reason      string        // why the last attempt failed, in a few words; while retrying and at the end
	Pause       time.Duration // until the next attempt, while retrying
}
