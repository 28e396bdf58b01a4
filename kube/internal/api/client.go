package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"deployster/internal/runtime/runner"
)

// The requests a second of all calls, and how many of them may be sent at once. The defaults of
// client-go are 5 and 10.
const (
	queriesPerSecond = 100
	burst            = 200
)

// perCall is the time limit of one request whose answer is short.
const perCall = 30 * time.Second

// DefaultPatience is how long a call is tried again while the API server does not answer.
const DefaultPatience = 2 * time.Minute

// Client calls the API server for one namespace. It is safe for concurrent use.
type Client struct {
	Namespace string
	Patience  time.Duration
	Plugin    *Plugin // makes the credentials; nil = no program does

	config        *rest.Config
	core          *rest.RESTClient
	coordination  *rest.RESTClient
	authorization *rest.RESTClient
	networking    *rest.RESTClient
	params        runtime.ParameterCodec
}

// Config returns how to reach a cluster: as the context of a kubeconfig declares or, without a kubeconfig, as
// the account of the Pod that this process runs in. self is this program, which runs a program that makes credentials, within a limit.
func Config(c runner.Cluster, self string, limit time.Duration) (*rest.Config, *Plugin, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if c.Kubeconfig != "" {
		rules.ExplicitPath = home(c.Kubeconfig)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loaded.ClientConfig()
	var plugin *Plugin
	if err == nil {
		plugin, err = through(config, self, limit)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the kubeconfig cannot be used: %w", unusable(c, loaded, rules, err))
	}
	return config, plugin, nil
}

// unusable returns why a kubeconfig cannot be used, with what it has instead.
func unusable(c runner.Cluster, loaded clientcmd.ClientConfig, rules *clientcmd.ClientConfigLoadingRules, err error) error {
	raw, failed := loaded.RawConfig()
	files := strings.Join(rules.GetLoadingPrecedence(), ", ")
	switch names := slices.Sorted(maps.Keys(raw.Contexts)); {
	case failed != nil:
		return failed
	case c.Context != "" && raw.Contexts[c.Context] == nil:
		return fmt.Errorf("%s has no context %q, but %s", files, c.Context, strings.Join(names, ", "))
	case c.Context == "" && raw.CurrentContext == "" && len(names) > 0:
		return fmt.Errorf("%s has no current context. Name one of %s in `context` of the block", files, strings.Join(names, ", "))
	case clientcmd.IsEmptyConfig(err):
		return fmt.Errorf("%s has no cluster, and this command runs in none. Name a file in `kubeconfig` of the block, or in KUBECONFIG",
			files)
	}
	return err
}

// podToken is the token of the account of the Pod that a process runs in.
const podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// OfPod reports whether a cluster is reached as the account of the Pod that this process runs in.
func OfPod(c *rest.Config) bool { return c.BearerTokenFile == podToken }

// home replaces ~ at the beginning of a path.
func home(path string) string {
	if rest, is := strings.CutPrefix(path, "~/"); is {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return path
}

// known returns the objects that a Client knows. What the library logs is in errors, too.
var known = sync.OnceValues(func() (*runtime.Scheme, error) {
	klog.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	return scheme, errors.Join(core.AddToScheme(scheme), coordination.AddToScheme(scheme), authorization.AddToScheme(scheme),
		networking.AddToScheme(scheme))
})

// New returns a Client for a namespace.
func New(config *rest.Config, namespace string) (*Client, error) {
	scheme, err := known()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = queriesPerSecond, burst
	if config.RateLimiter == nil {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(queriesPerSecond, burst)
	}
	config.UserAgent = "deployster-kube"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c := &Client{Namespace: namespace, Patience: DefaultPatience, config: config, params: runtime.NewParameterCodec(scheme)}
	var errs []error
	of := func(group schema.GroupVersion, path string) *rest.RESTClient {
		config := rest.CopyConfig(config)
		config.GroupVersion, config.APIPath = &group, path
		client, err := rest.RESTClientFor(config)
		errs = append(errs, err)
		return client
	}
	c.core = of(core.SchemeGroupVersion, "/api")
	c.coordination = of(coordination.SchemeGroupVersion, "/apis")
	c.authorization = of(authorization.SchemeGroupVersion, "/apis")
	c.networking = of(networking.SchemeGroupVersion, "/apis")
	return c, errors.Join(errs...)
}

// deniedPatience is how long a call is tried again that the caller has no right to: just after its start an API server does not know yet
// who has which rights.
const deniedPatience = 3 * time.Second

// Denied reports whether an error is that the caller lacks a right. Rules about the object itself are refused otherwise.
func Denied(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot ") && strings.Contains(err.Error(), " resource ")
}

// again calls do until it succeeds, fails in a way that another try cannot mend, or the patience
// is used up. A call of do that failed may have been carried out.
func (c *Client) again(ctx context.Context, do func(context.Context) error) error {
	begun, renewed := time.Now(), false
	limit := begun.Add(c.Patience)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		each, cancel := context.WithTimeout(ctx, perCall)
		err := c.Plugin.explain(do(each))
		cancel()
		expired := apierrors.IsUnauthorized(err) && !renewed // the credentials are renewed after it
		renewed = renewed || expired
		again := Transient(err) || expired || Denied(err) && time.Since(begun) < deniedPatience
		if err == nil || ctx.Err() != nil || !again || time.Now().Add(pause).After(limit) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// Transient reports whether an error of a call may be gone at the next try: the API server did not
// answer, or could not answer now.
func Transient(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return !errors.Is(err, context.Canceled)
	}
	return status.Status().Code >= 500 || apierrors.IsTooManyRequests(err)
}

// With returns a Client with another patience.
func (c *Client) With(patience time.Duration) *Client {
	other := *c
	other.Patience = patience
	return &other
}

// Server returns the version of the API server, as in v1.37.2.
func (c *Client) Server(ctx context.Context) (string, error) {
	var v version.Info
	err := c.again(ctx, func(ctx context.Context) error {
		content, err := c.core.Get().AbsPath("/version").Do(ctx).Raw()
		if err == nil {
			err = decodeVersion(content, &v)
		}
		return err
	})
	return v.GitVersion, err
}

// GetNamespace returns the namespace itself.
func (c *Client) GetNamespace(ctx context.Context) (*core.Namespace, error) {
	out := &core.Namespace{}
	err := c.again(ctx, func(ctx context.Context) error {
		return c.core.Get().Resource("namespaces").Name(c.Namespace).Do(ctx).Into(out)
	})
	return out, err
}

// HasPolicy reports whether a NetworkPolicy exists.
func (c *Client) HasPolicy(ctx context.Context, name string) (bool, error) {
	err := c.again(ctx, func(ctx context.Context) error {
		return c.networking.Get().Namespace(c.Namespace).Resource("networkpolicies").Name(name).Do(ctx).Error()
	})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// May reports whether the caller has a right in the namespace, and why not if the server gives a reason.
func (c *Client) May(ctx context.Context, r authorization.ResourceAttributes) (bool, string, error) {
	r.Namespace = c.Namespace
	out := &authorization.SelfSubjectAccessReview{}
	review := &authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &r}}
	err := c.again(ctx, func(ctx context.Context) error {
		return c.authorization.Post().Resource("selfsubjectaccessreviews").Body(review).Do(ctx).Into(out)
	})
	return out.Status.Allowed, out.Status.Reason, err
}
