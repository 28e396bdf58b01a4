# error 4:13 directories only

module "vpc" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "1.0"
}
