package registry

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	docref "github.com/distribution/reference"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"deployster/internal/base/words"
)

const (
	tagsAsked = 1000
	tagsShown = 8
)

// TagsSentence lists the tags of an image, for a user who named a tag that it does not
// have. It returns "" if they cannot be fetched: they are only a help.
func (c *Client) TagsSentence(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	tags, err := c.tags(ctx, name)
	if err != nil || len(tags) == 0 {
		return ""
	}
	named, _ := docref.ParseDockerRef(name)
	if tagged, ok := named.(docref.Tagged); ok {
		if best := words.Nearest(tagged.Tag(), tags); best != "" {
			tags = slices.DeleteFunc(tags, func(t string) bool { return t == best })
			tags = append([]string{best}, tags...)
		}
	}
	return " It has the tags " + words.List(tags, tagsShown) + "."
}

// tags returns the tags of an image in a registry, or the first tagsAsked of very many.
func (c *Client) tags(ctx context.Context, name string) (tags []string, err error) {
	named, err := docref.ParseDockerRef(name)
	if err != nil {
		return nil, err
	}
	hosts, err := c.hosts(ctx)(docref.Domain(named))
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	h := hosts[len(hosts)-1]
	repo, err := remote.NewRepository(h.Host + "/" + docref.Path(named))
	if err != nil {
		return nil, err
	}
	repo.PlainHTTP, repo.TagListPageSize = h.Scheme == "http", tagsAsked
	client := &auth.Client{Client: h.Client, Header: h.Header}
	repo.Client = client
	client.Credential = func(ctx context.Context, host string) (auth.Credential, error) {
		user, secret, err := c.credential(ctx, host)
		if user == "" {
			return auth.Credential{RefreshToken: secret}, err
		}
		return auth.Credential{Username: user, Password: secret}, err
	}
	enough := errors.New("enough")
	err = repo.Tags(ctx, "", func(page []string) error {
		tags = slices.DeleteFunc(page, func(t string) bool { return strings.HasPrefix(t, "sha256-") }) // signatures, not images
		return enough
	})
	if errors.Is(err, enough) {
		err = nil
	}
	slices.Sort(tags)
	return tags, err
}
