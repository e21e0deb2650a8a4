/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "app/window.h"

#include "app/findings-bar.h"
#include "app/numerics-page.h"
#include "app/overview-page.h"
#include "app/palette.h"
#include "app/queue-pane.h"
#include "app/report-page.h"
#include "app/review-pane.h"
#include "app/source-page.h"
#include "app/validity-page.h"
#include "widgets/notice.h"
#include "widgets/panes.h"
#include "widgets/stage-strip.h"

G_BEGIN_DECLS

/* The window in four files: window.c builds and follows the context, window-run.c drives the engine,
 * window-review.c the review and its report, window-actions.c is what other commands do. */
struct _AssayWindow
{
  GtkApplicationWindow parent;
  GtkLabel *task_title, *task_subtitle;
  GtkWidget *brand;
  GtkButton *run_button;
  GtkDropDown *device;
  AssayStageStrip *strip;
  GtkBox *notices;
  GtkOverlay *overlay;
  AssayPanes *panes;
  AssayQueuePane *queue;
  GtkStack *pages, *content;
  AssayOverviewPage *overview;
  AssayNumericsPage *numerics;
  AssaySourcePage *source;
  AssayValidityPage *validity;
  AssayReportPage *report;
  AssayReviewPane *review;
  AssayFindingsBar *findings;
  AssayPalette *palette;
  GtkWidget *focus_before; /* the palette took it */
  AssaySession *session;
  AssayContext *context;

  /* window-run.c */
  AssayRunModel *active_run; /* what the engine works on, whatever the window shows */
  AssayTaskItem *active_task;
  char *active_candidate; /* kept behind the run, to name it when it is lost */
  GQueue waiting;         /* char *: candidates of active_task that run next */
  gulong active_handler;
  gboolean starting;
  guint known_devices;

  gboolean close_anyway; /* window-review.c */
};

/* window-run.c */
void assay_window_run_init (AssayWindow *self);
void assay_window_run_dispose (AssayWindow *self);
void assay_window_run_candidate (AssayWindow *self, const char *candidate, gboolean unsandboxed);
void assay_window_run_everything (AssayWindow *self);
void assay_window_stop_run (AssayWindow *self);
void assay_window_update_strip (AssayWindow *self);

/* window-actions.c */
void assay_window_actions_init (AssayWindow *self);
void assay_window_enable (AssayWindow *self, const char *action, gboolean enabled);
void assay_window_show_finding (AssayWindow *self, AssayFindingItem *item);
void assay_window_show_title (AssayWindow *self);

/* window-review.c */
void assay_window_review_init (AssayWindow *self);
/* FALSE: something could not be saved, and the reviewer was told. */
gboolean assay_window_save_before_closing (AssayWindow *self);
/* To the criterion that is open in the review. */
void assay_window_attach (AssayWindow *self, const AssayEvidence *evidence);
void assay_window_show_evidence (AssayWindow *self, const AssayEvidence *evidence);

/* One notice above the page; see widgets/notice.h. */
AssayNotice *assay_window_notify (AssayWindow *self, AssayNoticeKind kind, const char *topic,
                                  const char *text, const char *detail);

G_END_DECLS
