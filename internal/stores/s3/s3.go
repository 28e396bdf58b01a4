package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"deployster/internal/sharedlog"
)

// Options say where the objects are.
type Options struct {
	Bucket, Prefix string
	Endpoint       string // host and port; "" = that of AWS
	Insecure       bool   // without TLS
	Region         string // "" = that of AWS's variables or of the profile, else the bucket's
	PathStyle      bool   // the bucket is in the path, and not in the name of the host
	Profile        string // of ~/.aws; "" = what AWS_PROFILE says, after AWS's other variables
}

// Store is what lies below a prefix of a bucket.
type Store struct {
	client         *minio.Client
	bucket, prefix string
}

// New returns a store, without connecting to it.
func New(o Options) (*Store, error) {
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	files := newProfile(o.Profile)
	creds := credentials.New(files) // who names a profile wants no other
	if o.Profile == "" {
		creds = credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, files, &credentials.IAM{}})
	}
	region := cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), files.region())
	// What is tried again is decided above, where it is known what a lost answer means; but where the region
	// is not known, a refusal may say it.
	tries := 1
	if region == "" {
		tries = 2
	}
	client, err := minio.New(endpoint, &minio.Options{Creds: creds, Secure: !o.Insecure, Region: region, BucketLookup: lookup,
		MaxRetries: tries})
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(o.Prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Store{client: client, bucket: o.Bucket, prefix: prefix}, nil
}

// Create puts an object with the condition that there is none.
func (s *Store) Create(ctx context.Context, key string, data []byte) error {
	o := minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/octet-stream"}
	o.SetMatchETagExcept("*")
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), o)
	// 409 says that another request for the same object was at work. What became of
	// that is not known.
	if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed {
		return sharedlog.ErrExists
	}
	return refused(err)
}

// Get reads an object.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, missing(err)
	}
	defer func() { _ = object.Close() }() // it was only read
	data, err := io.ReadAll(object)
	if err != nil {
		return nil, missing(err)
	}
	return data, nil
}

// List reads all pages of a list. The keys are those of one moment only as far as the
// service promises: what was created before is in it.
func (s *Store) List(ctx context.Context, prefix string) (keys []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for info := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, refused(info.Err)
		}
		keys = append(keys, strings.TrimPrefix(info.Key, s.prefix))
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	slices.Sort(keys)
	return keys, nil
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := missing(s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close lets go of connections.
func (s *Store) Close() error {
	s.client.CredContext().Client.CloseIdleConnections()
	return nil
}

// missing says of an error that there is no such object.
func missing(err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return fs.ErrNotExist
	}
	return refused(err)
}

// refused says of an error whether trying again is of no use.
func refused(err error) error {
	if err == nil {
		return nil
	}
	answer := minio.ToErrorResponse(err)
	if answer.Code == "RequestTimeout" || answer.Code == "IncompleteBody" {
		return err // what was sent did not arrive as a whole
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest, http.StatusNotImplemented,
		http.StatusMethodNotAllowed, http.StatusMovedPermanently:
		return fmt.Errorf("%w: %w (%s)", sharedlog.ErrDenied, err, answer.Code)
	}
	return err
}
