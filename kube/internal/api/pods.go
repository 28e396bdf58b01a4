package api

import (
	"context"
	"encoding/json"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
)

// AnnotationTry is an annotation of each Pod: a random text of the call that created it. The call
// knows by it the Pod of a request whose answer was lost.
const AnnotationTry = "deployster.io/try"

func decodeVersion(content []byte, v *version.Info) error { return json.Unmarshal(content, v) }

// CreatePod creates a Pod, and returns it as the server has it. When an answer is lost, CreatePod recognizes
// by AnnotationTry that the Pod was created.
func (c *Client) CreatePod(ctx context.Context, p *core.Pod) (*core.Pod, error) {
	out := &core.Pod{}
	tried := false
	err := c.again(ctx, func(ctx context.Context) error {
		err := c.core.Post().Namespace(c.Namespace).Resource("pods").Body(p).Do(ctx).Into(out)
		if tried && apierrors.IsAlreadyExists(err) {
			there, failed := c.pod(ctx, p.Name)
			if failed == nil && there.Annotations[AnnotationTry] == p.Annotations[AnnotationTry] {
				out, err = there, nil
			}
		}
		tried = true
		return err
	})
	return out, err
}

// GetPod returns a Pod as the store of the cluster has it now; nil = there is none.
func (c *Client) GetPod(ctx context.Context, name string) (*core.Pod, error) {
	var out *core.Pod
	err := c.again(ctx, func(ctx context.Context) (err error) {
		out, err = c.pod(ctx, name)
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return out, err
}

func (c *Client) pod(ctx context.Context, name string) (*core.Pod, error) {
	out := &core.Pod{}
	err := c.core.Get().Namespace(c.Namespace).Resource("pods").Name(name).Do(ctx).Into(out)
	return out, err
}

// ListPods returns the Pods that a selector of labels matches, as the store of the cluster has them now.
func (c *Client) ListPods(ctx context.Context, selector string) (*core.PodList, error) {
	out := &core.PodList{}
	err := c.again(ctx, func(ctx context.Context) error {
		*out = core.PodList{}
		return c.core.Get().Namespace(c.Namespace).Resource("pods").VersionedParams(&meta.ListOptions{LabelSelector: selector}, c.params).
			Do(ctx).Into(out)
	})
	return out, err
}

// WatchPods reports changes of Pods from a version on, with bookmarks, for at most a time.
func (c *Client) WatchPods(ctx context.Context, selector, version string, limit time.Duration) (watch.Interface, error) {
	return c.watch(ctx, "pods", meta.ListOptions{LabelSelector: selector, ResourceVersion: version, AllowWatchBookmarks: true}, limit)
}

// WatchEvents reports events about Pods from a version on; "" = the present ones too.
func (c *Client) WatchEvents(ctx context.Context, limit time.Duration) (watch.Interface, error) {
	return c.watch(ctx, "events", meta.ListOptions{FieldSelector: "involvedObject.kind=Pod"}, limit)
}

func (c *Client) watch(ctx context.Context, resource string, o meta.ListOptions, limit time.Duration) (watch.Interface, error) {
	seconds := int64(limit / time.Second)
	o.Watch, o.TimeoutSeconds = true, &seconds
	return c.core.Get().Namespace(c.Namespace).Resource(resource).VersionedParams(&o, c.params).Watch(ctx)
}

// DeletePod requests the end of a Pod within a grace time; nil = the Pod's own. A Pod with another UID, or
// none, counts as deleted. uid "" = any.
func (c *Client) DeletePod(ctx context.Context, name, uid string, grace *int64) error {
	o := &meta.DeleteOptions{GracePeriodSeconds: grace}
	if uid != "" {
		o.Preconditions = &meta.Preconditions{UID: (*types.UID)(&uid)}
	}
	err := c.again(ctx, func(ctx context.Context) error {
		return c.core.Delete().Namespace(c.Namespace).Resource("pods").Name(name).Body(o).Do(ctx).Error()
	})
	if apierrors.IsNotFound(err) || uid != "" && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Quotas returns the quotas of the namespace.
func (c *Client) Quotas(ctx context.Context) ([]core.ResourceQuota, error) {
	out := &core.ResourceQuotaList{}
	err := c.again(ctx, func(ctx context.Context) error {
		*out = core.ResourceQuotaList{}
		return c.core.Get().Namespace(c.Namespace).Resource("resourcequotas").Do(ctx).Into(out)
	})
	return out.Items, err
}
