module first

go 1.26.8

require (
	github.com/hashicorp/terraform v0.12.31
	github.com/terraform-providers/terraform-provider-http v1.2.0
	github.com/terraform-providers/terraform-provider-null v1.0.0
	github.com/terraform-providers/terraform-provider-random v1.3.1
	github.com/terraform-providers/terraform-provider-tls v1.2.0
)

require github.com/dustinkirkland/golang-petname v0.0.0-20260215035315-f0c533e9ce9b // indirect

replace (
	github.com/terraform-providers/terraform-provider-http => github.com/hashicorp/terraform-provider-http v1.2.0
	github.com/terraform-providers/terraform-provider-null => github.com/hashicorp/terraform-provider-null v1.0.0
	github.com/terraform-providers/terraform-provider-random => github.com/hashicorp/terraform-provider-random v1.3.1
	github.com/terraform-providers/terraform-provider-tls => github.com/hashicorp/terraform-provider-tls v1.2.0
)
