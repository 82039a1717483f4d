"""One made-up credential of each family, and what must be left alone."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core.credentials import FAMILIES
from sidechat_mcp.core.redact import secrets
from tests.behaviours import behaviour

CHANCE = random.Random(7)
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"


def some(length: int, of: str = ALNUM) -> str:
    """A made-up part of a secret, with a digit in it where there are digits; made here, so that
    no scanner finds a credential in this file."""
    return "".join(CHANCE.choice(of) for _ in range(length - 2)) + of[-1] + of[0]


def uuid() -> str:
    return "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12))


def pem(kind: str) -> str:
    lines = "\n".join(some(64, ALNUM + "+/") for _ in range(4))
    return f"-----BEGIN {kind}-----\n{lines}\nabcd==\n-----END {kind}-----"


TOKENS: Sequence[tuple[str, str]] = (
    ("private key", pem("RSA PRIVATE KEY")),
    ("private key", pem("OPENSSH PRIVATE KEY")),
    ("private key", pem("PGP PRIVATE KEY BLOCK")),
    ("private key", pem("PRIVATE KEY").replace("\n", "\\n")),
    ("private key", pem("PRIVATE KEY").partition("-----END")[0].rstrip()),
    ("age key", "AGE-SECRET-KEY-1" + some(58, UPPER)),
    ("JWT", f"eyJ{some(33)}.eyJ{some(60)}.{some(43, ALNUM + '-_')}"),
    ("Anthropic key", "sk-ant-api03-" + some(93, ALNUM + "-_") + "AA"),
    ("OpenRouter key", "sk-or-v1-" + some(64, HEX)),
    ("Langfuse key", "sk-lf-" + uuid()),
    ("OpenAI key", "sk-proj-" + some(120, ALNUM + "-_")),
    ("OpenAI key", "sk-svcacct-" + some(60)),
    ("API key", f"sk-{some(20)}T3BlbkFJ{some(20)}"),
    ("API key", "sk-" + some(32, HEX)),
    ("Google API key", "AIza" + some(35, ALNUM + "-_")),
    ("Hugging Face token", "hf_" + some(34)),
    ("Replicate token", "r8_" + some(37)),
    ("Groq key", "gsk_" + some(52)),
    ("xAI key", "xai-" + some(80)),
    ("Perplexity key", "pplx-" + some(48)),
    ("Fireworks key", "fw_" + some(22)),
    ("Cerebras key", "csk-" + some(48, string.ascii_lowercase + string.digits)),
    ("NVIDIA key", "nvapi-" + some(64, ALNUM + "-_")),
    ("LangSmith key", f"lsv2_pt_{some(32, HEX)}_{some(10, HEX)}"),
    ("Pinecone key", f"pcsk_{some(5)}_{some(63)}"),
    ("Tavily key", "tvly-dev-" + some(32)),
    ("Firecrawl key", "fc-" + some(32, HEX)),
    ("Jina key", f"jina_{some(32, HEX)}{some(28)}"),
    ("ElevenLabs key", "sk_" + some(48, HEX)),
    ("Together key", "tgp_v1_" + some(43, ALNUM + "-_")),
    ("E2B key", "e2b_" + some(40, HEX)),
    ("Weights & Biases key", "wandb_v1_" + some(77)),
    ("Kaggle token", "KGAT_" + some(32, HEX)),
    ("AWS key", "AKIA" + some(16, UPPER)),
    ("AWS key", "ASIA" + some(16, UPPER)),
    ("AWS Bedrock key", "ABSK" + some(128)),
    ("AWS Bedrock key", "bedrock-api-key-" + some(120)),
    ("Google OAuth token", "ya29." + some(120, ALNUM + "-_")),
    ("Google OAuth secret", "GOCSPX-" + some(28, ALNUM + "-_")),
    ("Google refresh token", "1//0" + some(60, ALNUM + "-_")),
    ("Azure key", f"{some(52)}JQQJ9{some(27)}"),
    ("Azure client secret", f"aB38Q~{some(34, ALNUM + '-_~.')}"),
    ("Azure DevOps token", f"{some(76)}AZDO{some(4)}"),
    ("DigitalOcean token", "dop_v1_" + some(64, HEX)),
    ("Alibaba Cloud key", "LTAI" + some(20)),
    ("Tencent Cloud key", "AKID" + some(32)),
    ("Yandex Cloud key", "AQVN" + some(36, ALNUM + "-_")),
    ("Heroku key", "HRKU-AA" + some(58, ALNUM + "-_")),
    ("Fly.io token", "fm2_" + some(80, ALNUM + "+/=")),
    ("Vercel token", "vcp_" + some(56)),
    ("Vercel token", f"vercel_blob_rw_{some(16)}_{some(30)}"),
    ("Netlify token", "nfp_" + some(36)),
    ("Cloudflare token", f"v1.0-{some(24, HEX)}-{some(146, HEX)}"),
    ("Cloudflare token", "cfut_" + some(48)),
    ("Supabase key", "sbp_" + some(40, HEX)),
    ("Supabase key", "sb_secret_" + some(31, ALNUM + "_")),
    ("PlanetScale token", "pscale_tkn_" + some(43, ALNUM + "-_")),
    ("Neon key", "napi_" + some(64, string.ascii_lowercase + string.digits)),
    ("Databricks token", "dapi" + some(32, HEX) + "-2"),
    ("Pulumi token", "pul-" + some(40, HEX)),
    ("Terraform token", f"{some(14)}.atlasv1.{some(67, ALNUM + '-_')}"),
    ("Vault token", "hvs." + some(90, ALNUM + "-_")),
    ("Doppler token", "dp.pt." + some(43)),
    ("1Password token", "ops_eyJ" + some(200, ALNUM + "-_")),
    ("OpenShift token", "sha256~" + some(43, ALNUM + "-_")),
    ("Tailscale key", f"tskey-auth-{some(12)}CNTRL-{some(32)}"),
    ("Scaleway key", "SCW" + some(17, UPPER)),
    ("GitHub token", "ghp_" + some(36)),
    ("GitHub token", "gho_" + some(36)),
    ("GitHub token", f"github_pat_{some(22)}_{some(59)}"),
    ("GitLab token", "glpat-" + some(20, ALNUM + "-_")),
    ("GitLab token", "glrt-" + some(20)),
    ("GitLab token", "GR1348941" + some(20)),
    ("Bitbucket token", "ATBB" + some(32)),
    ("Atlassian token", "ATATT3xFfGF0" + some(180, ALNUM + "-_=")),
    ("npm token", "npm_" + some(36)),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc" + some(140, ALNUM + "-_")),
    ("RubyGems key", "rubygems_" + some(48, HEX)),
    ("NuGet key", "oy2" + some(43, string.ascii_lowercase + string.digits)),
    ("crates.io token", "cio" + some(32)),
    ("Clojars token", "CLOJARS_" + some(60, string.ascii_lowercase + string.digits)),
    ("Docker token", "dckr_pat_" + some(27, ALNUM + "-_")),
    ("Artifactory key", "AKCp" + some(69)),
    ("SonarQube token", "sqp_" + some(40, HEX)),
    ("Snyk token", f"snyk_uat.{some(8, HEX)}.{some(60)}"),
    ("CircleCI token", f"CCIPAT_{some(22)}_{some(40, HEX)}"),
    ("Buildkite token", "bkua_" + some(40, HEX)),
    ("Sourcegraph token", f"sgp_{some(16, HEX)}_{some(40, HEX)}"),
    ("Postman key", f"PMAK-{some(24, HEX)}-{some(34, HEX)}"),
    ("Prefect key", "pnu_" + some(36)),
    ("Infracost key", "ico-" + some(32)),
    ("Harness token", f"pat.{some(22)}.{some(24, HEX)}.{some(20)}"),
    ("ReadMe key", "rdme_" + some(70, string.ascii_lowercase + string.digits)),
    ("Slack token", f"xoxb-{some(12, string.digits)}-{some(24)}"),
    ("Slack token", f"xoxe.xoxp-1-{some(100)}"),
    ("Slack token", f"xapp-1-A{some(10)}-{some(13, string.digits)}-{some(64, HEX)}"),
    ("Slack webhook", f"hooks.slack.com/services/T{some(8)}/B{some(8)}/{some(24)}"),
    ("Discord token", f"M{some(25)}.{some(6)}.{some(38, ALNUM + '-_')}"),
    ("Discord webhook", f"discord.com/api/webhooks/{some(18, string.digits)}/{some(68)}"),
    ("Telegram token", f"{some(10, string.digits)}:AA{some(33, ALNUM + '-_')}"),
    ("Teams webhook", f"acme.webhook.office.com/webhookb2/{uuid()}@{uuid()}/x/{some(32)}"),
    ("Zapier webhook", f"hooks.zapier.com/hooks/catch/123456/{some(7)}"),
    ("Stripe key", "sk_live_" + some(99)),
    ("Stripe key", "rk_test_" + some(24)),
    ("webhook secret", "whsec_" + some(32)),
    ("Square token", "sq0csp-" + some(43, ALNUM + "-_")),
    ("Square token", "EAAA" + some(60, ALNUM)),
    ("Meta token", "EAAB" + some(180)),
    (
        "Braintree token",
        f"access_token$production${some(16, string.ascii_lowercase)}${some(32, HEX)}",
    ),
    ("Plaid token", "access-sandbox-" + uuid()),
    ("Shopify token", "shpat_" + some(32, HEX)),
    ("Flutterwave key", "FLWSECK_TEST-" + some(32, HEX) + "-X"),
    ("Shippo token", "shippo_live_" + some(40, HEX)),
    ("EasyPost key", "EZAK" + some(54)),
    ("Duffel token", "duffel_test_" + some(43, ALNUM + "-_")),
    ("Twilio key", "SK" + some(32, HEX)),
    ("SendGrid key", f"SG.{some(22, ALNUM + '-_')}.{some(43, ALNUM + '-_')}"),
    ("Mailgun key", "key-" + some(32, HEX)),
    ("Mailgun key", f"{some(32, HEX)}-{some(8, HEX)}-{some(8, HEX)}"),
    ("Mailchimp key", some(32, HEX) + "-us12"),
    ("Brevo key", f"xkeysib-{some(64, HEX)}-{some(16)}"),
    ("MailerSend token", "mlsn." + some(64, HEX)),
    ("Resend key", f"re_{some(8)}_{some(24)}"),
    ("Linear key", "lin_api_" + some(40)),
    ("Notion token", "ntn_" + some(46)),
    ("Notion token", "secret_" + some(43)),
    ("Airtable token", f"pat{some(14)}.{some(64, HEX)}"),
    ("Asana token", f"1/{'1' * 16}:{some(32, HEX)}"),
    ("Figma token", "figd_" + some(40, ALNUM + "-_")),
    ("HubSpot token", "pat-na1-" + uuid()),
    ("Typeform token", f"tfp_{some(44)}_{some(14)}"),
    ("Contentful token", "CFPAT-" + some(43, ALNUM + "-_")),
    ("Mapbox token", f"sk.eyJ{some(80)}.{some(22)}"),
    ("Sentry token", "sntryu_" + some(64, HEX)),
    ("New Relic key", "NRAK-" + some(27, UPPER)),
    ("Grafana token", "glc_" + some(60)),
    ("Grafana token", f"glsa_{some(32)}_{some(8, HEX)}"),
    ("Dynatrace token", f"dt0c01.{some(24, UPPER)}.{some(64, UPPER)}"),
    ("PostHog key", "phx_" + some(43)),
    ("LaunchDarkly key", "sdk-" + uuid()),
    ("Adafruit key", "aio_" + some(28)),
    ("X token", "A" * 22 + f"{some(20)}%{some(50)}"),
    ("password hash", "$2b$12$" + some(53)),
    ("password hash", "$6$rounds=5000$salt$" + some(86)),
)


SURROUNDINGS = (
    "{}",
    "It printed {} and stopped.",
    "see `{}`, then",
    '{{"note": "{}"}}',
    "Error(401): invalid ({})",
    "a\n{}\nb",
)


@behaviour("core:redact-families")
@pytest.mark.parametrize("surrounding", SURROUNDINGS)
@pytest.mark.parametrize(("kind", "token"), TOKENS)
def test_a_credential_is_taken_out_wherever_it_stands(
    kind: str, token: str, surrounding: str
) -> None:
    mark = f"[redacted: {kind}]"

    assert secrets(surrounding.format(token)) == surrounding.format(mark)


# Three plain letters behind a slash are as likely the middle of an image.
IN_PATHS = [token for kind, token in TOKENS if kind not in ("NuGet key", "crates.io token")]


@behaviour("core:redact-families")
@pytest.mark.parametrize("token", IN_PATHS)
def test_a_credential_in_a_file_name_is_taken_out(token: str) -> None:
    redacted = secrets(f"/tmp/{token}.txt")

    assert token not in redacted
    assert "[redacted: " in redacted


def test_every_family_that_names_itself_has_a_made_up_one() -> None:
    shown = {kind for kind, _ in TOKENS} | {kind for kind, _, _ in PLACES}

    assert {family.kind for family in FAMILIES} == shown
    assert len(shown) >= 100


PASSWORD = "h" + "unter2!"
KEY = some(40)
PLACES: Sequence[tuple[str, str, str]] = (
    ("password", "postgres://app:{}@db.example/app?x=1", PASSWORD),
    ("password", "redis://:{}@cache:6379/0", PASSWORD),
    ("password", "cloudinary://1234:{}@cloud", KEY),
    ("token", "git clone https://{}@example.com/a.git", KEY),
    ("credentials", "Authorization: Bearer {}", some(30)),
    ("credentials", "authorization: Basic {}", "dXNlcjpwYXNzd29yZDE="),
    ("credentials", '{{"Authorization": "Token {}"}}', some(30)),
    ("credentials", "-H 'Authorization: {}'", some(30)),
    ("token", "it sends Bearer {} each time", some(30)),
    ("cookie", "Cookie: {}", f"session={some(30)}; theme=dark"),
    ("cookie", "Set-Cookie: {}", f"sid={some(30)}; HttpOnly"),
    ("secret", "<password>{}</password>", PASSWORD),
    ("secret", "https://example.com/x?a=1&access_token={}&b=2", KEY),
    ("secret", "https://example.com/x?X-Amz-Signature={}", some(64, HEX)),
    ("password", "curl -s -u admin:{} https://example.com", PASSWORD),
    ("password", "sshpass -p {} ssh host", PASSWORD),
    ("password", "machine example.com login me password {}", PASSWORD),
    ("secret", "run --api-key {} --verbose", KEY),
    ("secret", "run --db-password={} now", PASSWORD),
    ("password", "The password is {} for now", PASSWORD),
    ("secret", "password={}", PASSWORD),
    ("secret", "password: {}", PASSWORD),
    ("secret", 'passwd = "{}"', PASSWORD),
    ("secret", "'client_secret': '{}',", KEY),
    ("secret", '{{"apiKey":"{}"}}', KEY),
    ("secret", '{{\\"api_key\\": \\"{}\\"}}', KEY),
    ("secret", "api-key: {}", KEY),
    ("secret", "aws_secret_access_key = {}", some(40, ALNUM + "/+")),
    ("secret", "AccountName=a;AccountKey={};x=y", some(86) + "=="),
    ("secret", "Server=db;User=sa;Password={};", PASSWORD),
    ("secret", "//registry.example/:_authToken={}", uuid()),
    ("secret", "x-api-key: {}", uuid()),
    ("secret", 'token => "{}"', KEY),
    ("secret", "export DB_PASSWORD={}", "trustno"),
    ("secret", "SECRET_KEY_BASE={}", some(60, HEX)),
    ("secret", 'log: "the auth said password={} today"', PASSWORD),
    ("secret", 'auth: "said \'and password={} today"', PASSWORD),
    ("secret", "pin: `password: {}`", "84" + "6302"),
)


@behaviour("core:redact-families")
@pytest.mark.parametrize(("kind", "place", "secret"), PLACES)
def test_a_secret_is_taken_out_where_its_place_gives_it_away(
    kind: str, place: str, secret: str
) -> None:
    assert secrets(place.format(secret)) == place.format(f"[redacted: {kind}]")


HARMLESS = (
    hashlib.sha1(b"a").hexdigest(),
    hashlib.sha256(b"a").hexdigest(),
    f"sha256:{hashlib.sha256(b'a').hexdigest()}",
    "sha512-" + some(86, ALNUM + "+/") + "==",
    "commit 1f0c9aa2b7d34e5f6a7b8c9d0e1f2a3b4c5d6e7f",
    "6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "data:image/png;base64," + some(3000, ALNUM + "+/"),
    "signature: " + some(400, ALNUM + "+/"),
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + some(43, ALNUM + "+/") + " me@host",
    "password = get_password()",
    "password: str = None",
    "token: Optional[str]",
    "token = request.headers['x']",
    "token = tokens[0]",
    "api_key=os.environ['API_KEY']",
    "api_key: ${API_KEY}",
    "API_KEY=$API_KEY",
    "password: <your password>",
    "password: ********",
    "PASSWORD_FILE=/run/secrets/db1",
    "password: /run/secrets/db1",
    "max_tokens=4096, tokens: 120000",
    "token: 12ms",
    "private_key: ed25519",
    "the token budget: 200k",
    "the secret: keep functions short",
    "authorization: required",
    "Bearer authentication is used",
    "a token (see section 4.2) is a word",
    "https://example.com/a?page=2&key=name",
    "https://user:${PASS}@example.com",
    "auth: 'basic or bearer, see above'",
    "task-management and risk-assessment, sk-learn, disk-usage-of-everything-here",
    "npm_config_registry, hf_hub_download, re_compile_everything_again",
    "xoxo and pypi-publish-action",
    "secretary: Ann1234, author: john1234, compass: n0rth1",
)


@behaviour("core:redact-leaves-alone")
@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert secrets(text) == text


@behaviour("core:redact-idempotent")
@given(
    st.lists(
        st.sampled_from([*(t for _, t in TOKENS), *(p.format(s) for _, p, s in PLACES)])
        | st.sampled_from([*HARMLESS, " ", "\n", '"', "=", "password: ", "[redacted: x]"])
        | st.text(max_size=8),
        max_size=6,
    )
)
def test_what_was_redacted_has_nothing_left_to_redact(pieces: list[str]) -> None:
    once = secrets("".join(pieces))

    assert secrets(once) == once
