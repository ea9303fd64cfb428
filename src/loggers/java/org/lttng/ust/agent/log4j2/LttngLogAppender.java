// SPDX-License-Identifier: LGPL-2.1-or-later
package org.lttng.ust.agent.log4j2;

import java.util.concurrent.atomic.LongAdder;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.Core;
import org.apache.logging.log4j.core.Filter;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.core.config.plugins.Plugin;
import org.apache.logging.log4j.core.config.plugins.PluginAttribute;
import org.apache.logging.log4j.core.config.plugins.PluginElement;
import org.apache.logging.log4j.core.config.plugins.PluginFactory;
import org.ltt.agent.Events;
import org.ltt.agent.Payload;

/**
 * Records the messages of log4j 2 as the event lttng_log4j2:event, while a session records it; with
 * domain="LOG4J" in the configuration as lttng_log4j:event, with the levels of log4j 1.2. The
 * caller is known where the logger has includeLocation, as for every appender.
 */
@Plugin(name = LttngLogAppender.PLUGIN_NAME, category = Core.CATEGORY_NAME,
	elementType = Appender.ELEMENT_TYPE)
public final class LttngLogAppender extends AbstractAppender {
	public static final String PLUGIN_NAME = "Lttng";

	private final LongAdder count = new LongAdder();
	private final boolean old;
	private final Events events;

	private LttngLogAppender(String name, Filter filter, boolean ignoreExceptions, boolean old) {
		super(name, filter, null, ignoreExceptions, Property.EMPTY_ARRAY);
		this.old = old;
		events = old ? Events.LOG4J : Events.LOG4J2;
	}

	/** The appender of a configuration; null: a value is invalid, which log4j's status log has. */
	@PluginFactory
	public static LttngLogAppender createAppender(@PluginAttribute("name") String name,
						      @PluginAttribute("domain") String domain,
						      @PluginAttribute("ignoreExceptions")
						      Boolean ignoreExceptions,
						      @PluginElement("Filters") Filter filter) {
		boolean old = "LOG4J".equalsIgnoreCase(domain);

		if (name == null) {
			LOGGER.error("{}: missing name; add name=\"...\"", PLUGIN_NAME);
			return null;
		}
		if (!old && domain != null && !"LOG4J2".equalsIgnoreCase(domain)) {
			LOGGER.error("{}: unknown domain '{}'; use LOG4J2 or LOG4J", PLUGIN_NAME, domain);
			return null;
		}
		return new LttngLogAppender(name, filter, ignoreExceptions == null || ignoreExceptions, old);
	}

	@Override
	public void append(LogEvent event) {
		events.seen(event.getLoggerName());
		if (!events.isListened())
			return;
		try {
			String message = event.getMessage().getFormattedMessage();
			StackTraceElement at = event.getSource(); // null without includeLocation
			events.emit(Payload.begin()
					    .text(message)
					    .text(event.getLoggerName())
					    .text(at == null ? null : at.getClassName())
					    .text(at == null ? null : at.getMethodName())
					    .text(at == null ? null : at.getFileName())
					    .number(at == null ? -1 : at.getLineNumber())
					    .number(event.getTimeMillis())
					    .number(level(event.getLevel()))
					    .text(event.getThreadName()));
			count.increment();
		} catch (RuntimeException | LinkageError e) {
			// of the message's toString(), for example
		}
	}

	private int level(Level level) {
		if (!old)
			return level.intLevel();
		switch (level.getStandardLevel()) {
		case OFF:
			return Integer.MAX_VALUE;
		case FATAL:
			return 50000;
		case ERROR:
			return 40000;
		case WARN:
			return 30000;
		case INFO:
			return 20000;
		case DEBUG:
			return 10000;
		case TRACE:
			return 5000;
		default:
			return Integer.MIN_VALUE;
		}
	}

	/** Messages that this appender has emitted. */
	public long getEventCount() {
		return count.sum();
	}
}
