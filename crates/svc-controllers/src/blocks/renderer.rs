//! The block renderer: renders a dynamic block for previews in editors.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_auth::caps::PostCap;
use svc_content::{
    block_render::Renderer as BlockRenderer,
    blocks::{Block, BlockType},
};
use svc_model::{Post, PostId};
use svc_render::{
    SiteRenderer,
    blocks::{BlockViewer, with_blocks},
    feeds::{MissingFeeds, with_feeds},
};
use svc_routing::{Controller, Method, Request, Response, Result, Route, forbidden, on};
use svc_schema::{
    Arg, Args, Error, Sanitizer, Schema, Validator,
    build::{integer, string, untyped},
};
use svc_site::Access;
use svc_store::posts;
use svc_text::Html;
use svc_versions::Context;

use crate::{caller, request::block_viewer};

/// The caller may not edit the post, or any posts.
fn cannot_read(req: &Request) -> Error {
    forbidden(req, "block_cannot_read", "You are not allowed to view blocks of this post.")
}

/// There is no dynamic block type with this name.
fn not_dynamic() -> Error {
    Error::new("block_invalid", "The block type does not exist or is not dynamic.").with_status(404)
}

/// The block renderer route.
pub struct Renderer {
    renderer: Arc<SiteRenderer>,
}

impl Renderer {
    /// The block renderer of this site.
    pub fn new(renderer: &Arc<SiteRenderer>) -> Self {
        Renderer { renderer: Arc::clone(renderer) }
    }

    /// Schema of a block type's attributes, without additional ones. `None` for an unknown type.
    fn attributes_of(&self, cx: &Context, name: &str) -> Result<Option<Schema>> {
        let types = self.renderer.site.block_types(&*self.renderer.site.settings(cx)?);
        let schema =
            |t: &Arc<BlockType>| json!({"type": "object", "properties": t.attributes, "additionalProperties": false});
        Ok(types.get(name).map(|block_type| Schema::compile(schema(block_type))))
    }

    /// Validates the attributes against the block type. The attributes of an unknown type are not validated.
    fn check(&self, req: &Request, attributes: &Value) -> Result<bool> {
        let Some(schema) = self.attributes_of(req.cx(), &req.require::<String>("name")?)? else { return Ok(true) };
        // The default is PHP's empty array, which is a list in JSON.
        if attributes == &json!([]) { Ok(true) } else { schema.validate(attributes, "").map(|()| true) }
    }

    async fn can_render(self: Arc<Self>, req: Request) -> Result<Option<Post>> {
        let (caller, id) = (caller(&req), req.arg::<i64>("post_id")?.unwrap_or_default());
        let site = &self.renderer.site;
        if id <= 0 {
            let settings = site.settings(req.cx())?;
            let cap = site.registries.types.get("post").map_or("edit_posts", |t| t.caps.edit_posts.as_str());
            return if Access::new(site, &settings).can(&caller, cap) { Ok(None) } else { Err(cannot_read(&req)) };
        }
        let post = site.read(req.cx(), |db| {
            let Some(post) = posts::get(db, PostId(id))? else { return Ok(None) };
            let settings = site.settings_in(db)?;
            let access = Access::of_posts(site, &settings, db, std::slice::from_ref(&post))?;
            let can_edit = caller.can_post(PostCap::Edit, &post, &access);
            drop(access);
            Ok(can_edit.then_some(post))
        })?;
        match post {
            Some(post) => Ok(Some(post)),
            None => Err(cannot_read(&req)),
        }
    }

    async fn render(self: Arc<Self>, req: Request, post: Option<Post>) -> Result<Response> {
        let name: String = req.require("name")?;
        let site = &self.renderer.site;
        let settings = site.settings(req.cx())?;
        let types = site.block_types(&settings);
        let block_type = types.get(&name).filter(|t| t.dynamic).cloned().ok_or_else(not_dynamic)?;
        let raw_attributes = req.param("attributes").cloned().filter(Value::is_object).unwrap_or_else(|| json!({}));
        let cleaned = match self.attributes_of(req.cx(), &name)? {
            Some(schema) => schema.sanitize(raw_attributes, "")?,
            None => raw_attributes,
        };
        let attributes = cleaned.as_object().cloned().unwrap_or_default();
        let theme = site.theme(req.cx(), &settings);
        let show = |missing: &MissingFeeds| {
            site.read(req.cx(), |db| {
                let viewer = BlockViewer { missing: missing.clone(), ..block_viewer(req.cx(), site, &settings, &req) };
                with_blocks(&self.renderer, &settings, &viewer, db, |blocks| {
                    let show = || {
                        let dynamic = svc_blocks::with_text(blocks);
                        let renderer = BlockRenderer::new(&theme.blocks, &dynamic);
                        render(&renderer, &block_type, &attributes)
                    };
                    match &post {
                        Some(post) => blocks.within_post(post.id, &post.post_type, show),
                        None => show(),
                    }
                })
            })
        };
        let html = with_feeds(req.cx(), &self.renderer, show).await?;
        Ok(Response::new(json!({"rendered": html.as_str()})))
    }
}

/// Renders a block without inner blocks.
fn render(renderer: &BlockRenderer<'_>, block_type: &BlockType, attributes: &Map<String, Value>) -> Html {
    let block = Block { name: Some(block_type.name.as_str().into()), attrs: attributes.clone(), ..Block::default() };
    renderer.render_block(&block)
}

impl Controller for Renderer {
    fn routes(&self) -> Vec<Route<Self>> {
        let attributes = untyped().keyword("type", "object").describe("The block's attributes.").default(json!([]));
        let schema = json!({
            "$schema": "http://json-schema.org/schema#",
            "title": "rendered-block",
            "type": "object",
            "properties": {
                "rendered": Value::from(string().describe("The block as HTML.").required().context(&["edit"])),
            },
        });
        let context = string().describe("Context of the request.").one_of(["edit"]).default("view");
        let args = Args::from([
            // The default is not an allowed value. It is rejected unless the request sets the context.
            ("context", Arg { validate: Validator::BySchema, sanitize: Sanitizer::None, ..Arg::from(context) }),
            // Validated and sanitized with the schema of the block type in the path.
            ("attributes", Arg { validate: Validator::None, sanitize: Sanitizer::None, ..Arg::from(attributes) }),
            ("post_id", Arg::from(integer().describe("ID of the post that contains the block."))),
        ]);
        let checks = Renderer::new(&self.renderer);
        let name = Args::from([("name", string().describe("Name of the block type."))]);
        vec![
            Route::new("/block-renderer/(?P<name>[a-z0-9-]+/[a-z0-9-]+)")
                .schema(Schema::compile(schema))
                .args(name)
                .endpoint(
                    // Blocks may fetch feeds.
                    on([Method::GET, Method::POST], Self::render, Self::can_render)
                        .waits()
                        .args(args)
                        .example(json!({"context": "edit"}))
                        .validate_arg("attributes", move |req, attributes| checks.check(req, attributes)),
                ),
        ]
    }
}
