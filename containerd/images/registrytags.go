package images

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/core/remotes/docker"
	"github.com/containerd/containerd/v2/pkg/reference"
	docref "github.com/distribution/reference"
)

const (
	tagsAsked  = 1000
	tagsShown  = 8
	tagsAnswer = 1 << 20 // bytes
)

// tagsSentence says which tags an image has, for somebody who named one that
// it does not have. "" when that cannot be found out: it is only a help.
func (g *registries) tagsSentence(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	tags, err := g.tags(ctx, name)
	if err != nil || len(tags) == 0 {
		return ""
	}
	named, _ := docref.ParseDockerRef(name)
	if tagged, ok := named.(docref.Tagged); ok {
		if best := nearest(tagged.Tag(), tags); best != "" {
			tags = slices.DeleteFunc(tags, func(t string) bool { return t == best })
			tags = append([]string{best}, tags...)
		}
	}
	if more := len(tags) - tagsShown; more > 0 {
		tags = append(tags[:tagsShown], fmt.Sprintf("and %d more", more))
	}
	return " It has the tags " + strings.Join(tags, ", ") + "."
}

// tags asks a registry for the tags of an image.
func (g *registries) tags(ctx context.Context, name string) ([]string, error) {
	named, err := docref.ParseDockerRef(name)
	if err != nil {
		return nil, err
	}
	spec, err := reference.Parse(named.String())
	if err != nil {
		return nil, err
	}
	if ctx, err = docker.ContextWithRepositoryScope(ctx, spec, false); err != nil {
		return nil, err
	}
	hosts, err := g.hosts(ctx)(docref.Domain(named))
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	h := hosts[len(hosts)-1]
	url := fmt.Sprintf("%s://%s%s/%s/tags/list?n=%d", h.Scheme, h.Host, h.Path, docref.Path(named), tagsAsked)
	var seen []*http.Response
	for range 2 {
		answer, err := ask(ctx, h, url)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusUnauthorized && h.Authorizer != nil {
			seen = append(seen, answer)
			if err := h.Authorizer.AddResponses(ctx, seen); err != nil {
				return nil, err
			}
			continue
		}
		var list struct {
			Tags []string `json:"tags"`
		}
		err = json.NewDecoder(io.LimitReader(answer.Body, tagsAnswer)).Decode(&list)
		list.Tags = slices.DeleteFunc(list.Tags, func(t string) bool { return strings.HasPrefix(t, "sha256-") }) // signatures, not images
		slices.Sort(list.Tags)
		return list.Tags, err
	}
	return nil, docker.ErrInvalidAuthorization
}

func ask(ctx context.Context, h docker.RegistryHost, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header = h.Header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if h.Authorizer != nil {
		if err := h.Authorizer.Authorize(ctx, request); err != nil {
			return nil, err
		}
	}
	return h.Client.Do(request)
}
