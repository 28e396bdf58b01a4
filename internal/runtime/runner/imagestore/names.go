package imagestore

import (
	"errors"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"deployster/internal/base/diag"
)

// digestPrefix is the prefix of the digest of an image.
const digestPrefix = "sha256:"

// kindPattern matches the text after the # of a name: the kind of object, for an image
// that has several kinds. The lengths are not in the patterns: each start of the program would
// compile {1,128} into 128 copies.
var kindPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]+$`)

const (
	maxKind      = 128
	digestLength = len(digestPrefix) + 64
)

// IsDigest reports whether a name is a digest, as it is for an image without any other
// name.
func IsDigest(name string) bool { return strings.HasPrefix(name, digestPrefix) }

// Own is the prefix of the names of the images that come with deployster.
const Own = "deployster/"

var reservedPattern = regexp.MustCompile(`^deployster/[a-z0-9]+(-[a-z0-9]+)*$`)

// Reserved reports whether a full name is that of an image that comes with deployster. No registry
// has an image of that name.
func Reserved(full string) bool { return reservedPattern.MatchString(full) }

// Taken is the error about giving a reserved name to another image, or sending its image to a registry.
func Taken(name string) error {
	return diag.Errorf(name+" comes with deployster", "No other image can have that name, and no registry has it. Give a name with a "+
		"registry, as in registry.example.com/%s:1.", name)
}

// FullName completes a reference as docker does, and returns the digest in it, or "".
// With a digest, the digest alone determines the image. The error is a diagnostic.
func FullName(ref string) (full, dgst string, err error) {
	if image, kind, marked := strings.Cut(ref, "#"); marked {
		if len(kind) > maxKind || !kindPattern.MatchString(kind) {
			return "", "", diag.Errorf("Not the name of an image", "%q: the text after the # is not a valid kind: 1 to 128 letters, "+
				"digits, _, - and dots.", ref)
		}
		ref = image
	}
	if Reserved(ref) {
		return ref, "", nil
	}
	if strings.HasPrefix(ref, Own) {
		return "", "", diag.Errorf("Not the name of an image that comes with deployster", "%q: names that begin with %s are those of "+
			"images that come with deployster, whose version pins them: they have no tag and no digest. For an image of a registry write "+
			"its registry too, as in docker.io/%[1]s.", ref, Own)
	}
	if !IsDigest(ref) {
		var named reference.Named
		if named, err = reference.ParseDockerRef(ref); err == nil {
			if d, ok := named.(reference.Digested); ok {
				dgst = d.Digest().String()
			}
			return named.String(), dgst, nil
		}
	} else if len(ref) == digestLength && digestPattern.MatchString(ref) {
		return ref, ref, nil
	} else {
		err = errors.New("a digest is sha256: and 64 hexadecimal digits")
	}
	return "", "", diag.Errorf("Not the name of an image",
		"%q: %s. Valid names are acme/file:1.2 or registry.example.com/team/file:1.2; an image without a name is named by its digest, "+
			"sha256:... .", ref, strings.TrimRight(err.Error(), ". \n"))
}

// WithDigest returns the name of one image, by digest, in the repository of a full name.
func WithDigest(full, dgst string) string {
	if IsDigest(full) || Reserved(full) {
		return dgst
	}
	named, err := reference.ParseDockerRef(full)
	if err != nil {
		return full + "@" + dgst // the registry will refuse it
	}
	return reference.TrimNamed(named).String() + "@" + dgst
}
